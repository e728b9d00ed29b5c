/**
 * PUT and server-side apply may create the object that they name. Such a request was authorized as `update` or
 * `patch`, so the creation is authorized here as `create`, before the write.
 */
import type { ResourceRequest } from "../../request/request-info.ts";
import type { User } from "../../request/user.ts";
import { refusalOf } from "./authorization.ts";
import { NOTHING_ASKED } from "./authorizer.ts";
import type { AccessDecision, Authorizer } from "./authorizer.ts";

/** Rejects with `Forbidden` unless the user may create the object. */
export type CreatePermission = () => Promise<void>;

interface Creation {
  readonly info: ResourceRequest;
  readonly user: User;
}

/** The authorizer is asked once per request, even if the creation is retried. */
export function createPermission({ info, user }: Creation, authorizer: Authorizer): CreatePermission {
  const { group, version, resource, subresource, namespace, name } = info;
  // As upstream, creating a namespace is authorized at the cluster scope: roles within it do not count.
  const place = { group, version, resource, subresource, namespace, name };
  const attributes = { ...NOTHING_ASKED, user, verb: "create", ...place };
  let decided: AccessDecision | Promise<AccessDecision> | undefined;
  return async () => {
    const decision = await (decided ??= authorizer.decide(attributes));
    if (decision.outcome !== "allowed") throw refusalOf(decision, attributes);
  };
}
