/** Turns a target into the address to dial and the server name to expect there. */
import { EgressError } from "./egress.ts";
import type { DialAddress, EgressTarget } from "./egress.ts";
import type { ServiceLookup } from "./service-lookup.ts";

const DEFAULT_PORTS: Readonly<Record<string, number>> = { "https:": 443, "http:": 80 };

export function dialAddress(target: EgressTarget, services: ServiceLookup): DialAddress {
  if (target.type === "url") return urlAddress(target.url);
  const { namespace, name, port, path } = target;
  const serverName = `${name}.${namespace}.svc`;
  const authority = `${serverName}:${port}`;
  return { ...services.end(target, port), serverName, authority, basePath: path, isTls: true };
}

function urlAddress(text: string): DialAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const defaultPort = DEFAULT_PORTS[url?.protocol ?? ""];
  if (url === undefined || defaultPort === undefined || url.hostname === "")
    throw new EgressError("invalid URL: expected http or https and a host");
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return {
    host,
    port: url.port === "" ? defaultPort : Number(url.port),
    serverName: host,
    authority: url.host,
    basePath: url.pathname + url.search,
    isTls: url.protocol === "https:",
  };
}

/** Joins a path such as `/mutate` or `?timeout=10s` to the target's; the target's own query comes first. */
export function joinedPath(basePath: string, path: string): string {
  const [base, query] = splitQuery(basePath);
  const [more, moreQuery] = splitQuery(path);
  const whole = base.endsWith("/") && more.startsWith("/") ? base.slice(0, -1) + more : base + more;
  const queries = [query, moreQuery].filter((each) => each !== undefined && each !== "");
  const rooted = whole.startsWith("/") ? whole : `/${whole}`;
  return queries.length === 0 ? rooted : `${rooted}?${queries.join("&")}`;
}

function splitQuery(path: string): readonly [string, string?] {
  const at = path.indexOf("?");
  return at < 0 ? [path] : [path.slice(0, at), path.slice(at + 1)];
}

/** The URL for error messages: the target's query and credentials are left out, because they may be secrets. */
export function urlText(target: EgressTarget, path: string): string {
  const query = splitQuery(path)[1];
  const asked = query === undefined ? "" : `?${query}`;
  if (target.type === "service") {
    const origin = `https://${target.name}.${target.namespace}.svc:${target.port}`;
    return origin + joinedPath(target.path, splitQuery(path)[0]) + asked;
  }
  if (!URL.canParse(target.url)) return "";
  const { origin, pathname } = new URL(target.url);
  return origin + joinedPath(pathname, splitQuery(path)[0]) + asked;
}
