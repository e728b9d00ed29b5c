/**
 * Serves the issuer's metadata and public keys, by which other servers verify service account tokens (OpenID Connect
 * Discovery).
 */
import type { Route } from "../../request/exchange.ts";
import type { HttpResponse } from "../../request/http.ts";
import type { TokenIssuer } from "./token-issuer.ts";

const CONFIGURATION_PATH = "/.well-known/openid-configuration";
const KEYS_PATH = "/openid/v1/jwks";
/** Keys change rarely, so clients may cache them. Upstream's value. */
const CACHE = "public, max-age=3600";

export function issuerRoute(tokens: TokenIssuer): Route {
  return ({ info: { method, path } }) => {
    if (path !== CONFIGURATION_PATH && path !== KEYS_PATH) return undefined;
    if (method !== "GET" && method !== "HEAD") return undefined;
    const answer =
      path === KEYS_PATH
        ? json(keySet(tokens), "application/jwk-set+json")
        : json(configuration(tokens), "application/json");
    return Promise.resolve(answer);
  };
}

/** If the issuer is no URL, the keys' URL uses the server's name within pods. */
function configuration({ issuer, jwksUri, publicKeys }: TokenIssuer): object {
  const base = issuer.startsWith("https://") ? issuer.replace(/\/+$/, "") : "https://kubernetes.default.svc";
  return {
    issuer,
    jwks_uri: jwksUri ?? `${base}${KEYS_PATH}`,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [...new Set(publicKeys.map(({ algorithm }) => algorithm.name))],
  };
}

function keySet({ publicKeys }: TokenIssuer): object {
  const keys = publicKeys.map(({ id, key, algorithm }) => ({
    use: "sig",
    kid: id,
    alg: algorithm.name,
    ...key.export({ format: "jwk" }),
  }));
  return { keys };
}

function json(value: object, type: string): HttpResponse {
  const headers = new Map([
    ["content-type", type],
    ["cache-control", CACHE],
  ]);
  return { status: 200, headers, body: Buffer.from(JSON.stringify(value)) };
}
