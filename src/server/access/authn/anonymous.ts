/** Who says nothing of who they are. What they may do is for roles to say: by default to see whether the server is well, and which it is. */
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
  /** When there are any, only these paths can be asked for without a name; exactly these. */
  readonly paths: readonly string[];
}

/**
 * With AlwaysAllow every user is an administrator, so anonymous access ends, also where it was asked for. Paths that the
 * configuration lists one by one stay open, as upstream.
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
      // Whoever shows a certificate wants to be somebody, or to speak for somebody.
      if (isRefused || peer?.role !== undefined) throw unauthorized();
      return ANONYMOUS;
    },
  };
}
