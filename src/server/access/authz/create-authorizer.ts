/** Builds the server's authorizer from the options. */
import type { Loop } from "../../../base/loop/loop.ts";
import type { Store } from "../../../store/store.ts";
import type { Egress } from "../../egress/egress.ts";
import { alwaysAllow, alwaysDeny } from "./always-allow.ts";
import { DEFAULT_AUTHORIZERS } from "./authorization-options.ts";
import type { AuthorizationOptions, AuthorizerOptions } from "./authorization-options.ts";
import { authorizerChain } from "./authorization.ts";
import type { Authorizer } from "./authorizer.ts";
import { nodeAuthorizer } from "./node/node-authorizer.ts";
import { NodeGraph } from "./node/node-graph.ts";
import { nodeRules } from "./rbac/default-roles.ts";
import { RbacAuthorizer } from "./rbac/rbac-authorizer.ts";
import { RoleIndex } from "./rbac/role-index.ts";
import { WebhookAuthorizer } from "./webhook/webhook-authorizer.ts";

interface Parts {
  readonly loop: Loop;
  readonly store: Store;
  readonly egress: Egress;
}

export interface Authorization {
  readonly authorizer: Authorizer;
  /** The stored roles and bindings. */
  readonly roles: RoleIndex;
  /** Set if the Node authorizer is configured. */
  readonly nodeGraph?: NodeGraph;
}

interface Sources {
  readonly roles: RoleIndex;
  readonly nodeGraph: NodeGraph | undefined;
}

export function createAuthorization(
  parts: Parts,
  options: AuthorizationOptions = DEFAULT_AUTHORIZERS,
): Authorization {
  const roles = new RoleIndex(parts.store);
  const hasNodes = options.some(({ type }) => type === "Node");
  const nodeGraph = hasNodes ? new NodeGraph(parts.store, parts.loop) : undefined;
  const members = options.map((each) => memberOf(each, { roles, nodeGraph }, parts));
  return { authorizer: authorizerChain(members), roles, ...(nodeGraph !== undefined && { nodeGraph }) };
}

function memberOf(options: AuthorizerOptions, { roles, nodeGraph }: Sources, parts: Parts): Authorizer {
  switch (options.type) {
    case "Node":
      if (nodeGraph === undefined) throw new Error("the Node authorizer needs a graph");
      return nodeAuthorizer({ graph: nodeGraph, rules: nodeRules });
    case "RBAC":
      return new RbacAuthorizer(roles);
    case "AlwaysAllow":
      return alwaysAllow;
    case "AlwaysDeny":
      return alwaysDeny;
    case "Webhook":
      return new WebhookAuthorizer(options, parts);
  }
}
