/**
 * Authenticates by the headers of a front proxy, which has authenticated the user. The headers count only on a
 * connection with a front proxy's certificate.
 */
import { FRONT_PROXY_HEADERS } from "../../request/front-proxy-headers.ts";
import { extraFrom, valuesOf } from "../../request/header-values.ts";
import type { AcceptedRequest } from "../../request/http.ts";
import type { User } from "../../request/user.ts";
import type { Authenticator } from "./authenticator.ts";

/**
 * `names` lists the allowed common names of front proxies. If empty, any certificate of the front-proxy authority is
 * accepted.
 */
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
