/**
 * By headers of a proxy that has found out who it is. Only a connection whose certificate is one of a front proxy is believed; from anybody
 * else these headers mean nothing.
 */
import { FRONT_PROXY_HEADERS } from "../../request/front-proxy-headers.ts";
import { extraFrom, valuesOf } from "../../request/header-values.ts";
import type { AcceptedRequest } from "../../request/http.ts";
import type { User } from "../../request/user.ts";
import type { Authenticator } from "./authenticator.ts";

/** `names`: the common names that a front proxy may have; when there are none, each that its authority has vouched for. */
export function frontProxy(names: readonly string[]): Authenticator {
  return {
    authenticate(request) {
      const { peer } = request;
      if (peer?.role !== "front-proxy") return undefined;
      if (names.length > 0 && !names.includes(peer.user)) return undefined;
      return findUser(request);
    },
  };
}

function findUser(request: AcceptedRequest): User | undefined {
  const { user, uid, group, extraPrefix } = FRONT_PROXY_HEADERS;
  const name = valuesOf(request, user).find((value) => value !== "");
  if (name === undefined) return undefined;
  const groups = valuesOf(request, group).filter((value) => value !== "");
  return {
    name,
    uid: valuesOf(request, uid)[0] ?? "",
    groups: withAuthenticated(groups),
    extra: extraFrom(request, extraPrefix),
  };
}

function withAuthenticated(groups: readonly string[]): readonly string[] {
  const isSaid = groups.includes("system:authenticated") || groups.includes("system:unauthenticated");
  return isSaid ? groups : [...groups, "system:authenticated"];
}
