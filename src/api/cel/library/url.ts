/** CEL library of URLs as in Go's request URIs: with a scheme, or a path from the root. */
import { isRequestUri } from "../../formats/request-uri.ts";
import { CelEvaluationError } from "../cel-error.ts";
import type { Library } from "../overload.ts";
import type { Run } from "../run.ts";
import { type CelValue, Opaque, PlainList, PlainMap } from "../value.ts";

interface Url {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
}

const SHAPE = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?]*))?([^?]*)(?:\?([^]*))?$/;
/** The fragment, which is validated and then dropped. */
const FRAGMENT = /#[^]*$/;
const WRONG_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
/** Characters that Go escapes in a path. */
const UNSAFE = /[^A-Za-z0-9\-_.~$&+,/:;=@!'()*[\]%]/gu;

function findUrl(text: string): Url | undefined {
  if (!isRequestUri(text)) return undefined;
  const [, scheme = "", authority = "", rest = "", query = ""] = SHAPE.exec(text.replace(FRAGMENT, "")) ?? [];
  // An opaque URL such as `mailto:a@b` has no path.
  const path = scheme === "" || rest.startsWith("/") ? rest : "";
  return { scheme: scheme.toLowerCase(), host: authority.replace(/^[^@]*@/, ""), path, query };
}

function urlOf(value: CelValue): Url {
  return (value as Opaque<Url>).content;
}

function hostname({ host }: Url): string {
  return host.startsWith("[") ? host.slice(1, host.indexOf("]")) : host.replace(/:\d*$/, "");
}

/** Parameters of the query. As in Go, invalid pairs are dropped: those with a semicolon or a malformed escape. */
function queryOf({ query }: Url, run: Run): CelValue {
  run.charge(query.length);
  const values = new Map<string, string[]>();
  for (const pair of query.split("&")) {
    if (pair === "" || pair.includes(";") || WRONG_ESCAPE.test(pair)) continue;
    // The leading `&` keeps a question mark at the start of the pair, which URLSearchParams would drop.
    for (const [name, value] of new URLSearchParams(`&${pair}`)) {
      const known = values.get(name);
      if (known === undefined) values.set(name, [value]);
      else known.push(value);
    }
  }
  return new PlainMap(new Map([...values].map(([name, list]) => [`s${name}`, [name, new PlainList(list)]])));
}

export const URLS: Library = [
  [
    "url(string): kubernetes.URL",
    ([text], run) => {
      run.chargeText((text as string).length);
      const url = findUrl(text as string);
      if (url !== undefined) return new Opaque("kubernetes.URL", url, text as string);
      throw new CelEvaluationError(
        `URL parse error during conversion from string: parse ${JSON.stringify((text as string).slice(0, 100))}: invalid URI for request`,
      );
    },
  ],
  [
    "isURL(string): bool",
    ([text], run) => {
      run.chargeText((text as string).length);
      return findUrl(text as string) !== undefined;
    },
  ],
  ["kubernetes.URL -> getScheme(): string", ([url]) => urlOf(url).scheme],
  ["kubernetes.URL -> getHost(): string", ([url]) => urlOf(url).host],
  ["kubernetes.URL -> getHostname(): string", ([url]) => hostname(urlOf(url))],
  ["kubernetes.URL -> getPort(): string", ([url]) => /:(\d*)$/.exec(urlOf(url).host)?.[1] ?? ""],
  [
    "kubernetes.URL -> getEscapedPath(): string",
    ([url]) => urlOf(url).path.replaceAll(UNSAFE, encodeURIComponent),
  ],
  ["kubernetes.URL -> getQuery(): map<string, list<string>>", ([url], run) => queryOf(urlOf(url), run)],
];
