/**
 * The user of requests without credentials. RBAC decides its permissions: by default the health and version
 * endpoints.
 */
import { unauthorized } from "../../../api/errors/api-error.ts";
import type { User } from "../../request/user.ts";
import type { AuthorizerOptions } from "../authz/authorization-options.ts";
import type { Authenticator } from "./authenticator.ts";

const ANONYMOUS: User = {
  name: "system:anonymous",
  uid: "",
  groups: ["system:unauthenticated"],
  extra: {},
};

export interface AnonymousRule {
  readonly enabled: boolean;
  /** If not empty, anonymous requests may use exactly these paths. */
  readonly paths: readonly string[];
}

/**
 * True where anonymous access would make every client an administrator: with AlwaysAllow and no path list. The server
 * then disables it. Paths listed in the configuration stay open, as upstream.
 */
export function isOpenToAll(
  { enabled, paths }: AnonymousRule,
  authorizers: readonly AuthorizerOptions[],
): boolean {
  return enabled && paths.length === 0 && authorizers.some(({ type }) => type === "AlwaysAllow");
}

export function anonymous({ enabled, paths }: AnonymousRule): Authenticator {
  const only = paths.length === 0 ? undefined : new Set(paths);
  return {
    authenticate({ peer }, _notes, { path }) {
      const isRefused = !enabled || only?.has(path) === false;
      // A client with a certificate claims an identity, its own or another user's, so it is not anonymous.
      if (isRefused || peer?.role !== undefined) throw unauthorized();
      return ANONYMOUS;
    },
  };
}
