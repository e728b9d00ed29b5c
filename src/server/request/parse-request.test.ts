import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isUrgent, parseRequest } from "./parse-request.ts";

function parse(method: string, target: string): string {
  const { info } = parseRequest(method, target);
  if (info.type === "other") return info.problem ?? `${info.verb} ${info.path}`;
  const { verb, group, version, resource, namespace, name, subresource } = info;
  return [verb, group, version, resource, namespace, name, subresource].join("|");
}

function access(method: string, target: string): readonly string[] {
  const { info } = parseRequest(method, target);
  if (info.type === "other") throw new Error(`${target} is no resource`);
  return [info.accessNamespace, info.accessName, info.fieldSelector, info.labelSelector];
}

describe("parseRequest", () => {
  test.each([
    ["GET", "/api/v1/pods", "list||v1|pods|||"],
    ["HEAD", "/api/v1/pods", "list||v1|pods|||"],
    ["GET", "/api/v1/pods?watch=true", "watch||v1|pods|||"],
    ["GET", "/api/v1/pods?watch", "watch||v1|pods|||"],
    ["GET", "/api/v1/pods?watch=False", "list||v1|pods|||"],
    ["GET", "/api/v1/watch/pods", "watch||v1|pods|||"],
    ["GET", "/api/v1/watch/namespaces/a/pods/b", "watch||v1|pods|a|b|"],
    ["DELETE", "/api/v1/watch/pods/b", "watch||v1|pods||b|"],
    ["POST", "/api/v1/proxy/nodes/b/x", "proxy||v1|nodes||b|"],
    ["GET", "/api/v1/namespaces/a/pods/b?watch=true", "get||v1|pods|a|b|"],
    ["GET", "/api/v1/namespaces/a/pods/b", "get||v1|pods|a|b|"],
    ["PUT", "/api/v1/namespaces/a/pods/b/status", "update||v1|pods|a|b|status"],
    ["GET", "/api/v1/namespaces", "list||v1|namespaces|||"],
    ["GET", "/api/v1/namespaces/a", "get||v1|namespaces||a|"],
    ["PUT", "/api/v1/namespaces/a/finalize", "update||v1|namespaces||a|finalize"],
    ["POST", "/apis/apps/v1/namespaces/a/deployments", "create|apps|v1|deployments|a||"],
    ["PATCH", "/apis/apps/v1/namespaces/a/deployments/b", "patch|apps|v1|deployments|a|b|"],
    ["DELETE", "/apis/apps/v1/namespaces/a/deployments", "deletecollection|apps|v1|deployments|a||"],
    [
      "DELETE",
      "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode",
      "delete|rbac.authorization.k8s.io|v1|clusterroles||system:node|",
    ],
    ["PUT", "/api/v1/pods", "update||v1|pods|||"],
    ["PATCH", "/api/v1/pods", "patch||v1|pods|||"],
    ["OPTIONS", "/api/v1/namespaces/a/pods/b", "||v1|pods|a|b|"],
    ["PROPFIND", "/api/v1/pods", "||v1|pods|||"],
    ["OPTIONS", "/api/v1/namespaces/a/pods/b/proxy/x", "||v1|pods|a|b|proxy"],
    ["GET", "/api/v1/pods/", "list||v1|pods|||"],
    ["GET", "/", "get /"],
    ["GET", "/healthz", "get /healthz"],
    ["GET", "/%68ealthz", "get /healthz"],
    ["GET", "/api", "get /api"],
    ["GET", "/api/", "get /api/"],
    ["GET", "/apis/", "get /apis/"],
    ["GET", "/api/v1", "get /api/v1"],
    ["GET", "/apis/apps/v1/", "get /apis/apps/v1/"],
    ["GET", "/openapi/v3/apis/apps/v1?hash=A", "get /openapi/v3/apis/apps/v1"],
    ["OPTIONS", "/apis/apps/v1", "options /apis/apps/v1"],
  ])("%s %s is %s", (method, target, expected) => {
    expect(parse(method, target)).toBe(expected);
  });

  test.each([
    ["get", "/api/v1/pods"],
    ["Get", "/healthz"],
    ["GET ", "/healthz"],
    ["", "/healthz"],
    ["GET", ""],
    ["GET", "*"],
    ["GET", "api/v1/pods"],
    ["GET", "https://server/api/v1/pods"],
    ["GET", "//"],
    ["GET", "//api/v1/pods"],
    ["GET", "/api/v1/pods//"],
    ["GET", "/api/v1//pods"],
    ["GET", "/api//v1/pods"],
    ["GET", "/apis//v1/pods"],
    ["GET", "/api/v1/namespaces//pods"],
    ["GET", "/api/v1/namespaces/a/pods//log"],
    ["GET", "/api/v1/namespaces/a/pods//proxy/x"],
    ["GET", "/api/v1/watch"],
    ["GET", "/apis/apps/v1/proxy/"],
    ["GET", "/api/v1/pods/%zz"],
    ["GET", "/api/v1/pods/%ff"],
    ["GET", "/api/v1/pods/a%"],
    ["GET", "/api/v1/nodes/a%2Fb"],
    ["GET", "/api%2Fv1%2Fsecrets"],
    ["GET", "/apis/g/v1/%ff"],
    ["GET", "/api/v1/pods/a b"],
    ["GET", "/api/v1/pods/\u00fc"],
    ["GET", "/api/v1/pods/a\u0000"],
    ["GET", "/api/v1/namespaces/a/pods/b/proxy/%"],
    ["GET", "/api/v1/namespaces/a/pods/b/proxy/a b"],
  ])("%j %j is malformed", (method, target) => {
    const { info } = parseRequest(method, target);

    expect(info).toMatchObject({ type: "other", verb: "" });
    expect(info).toHaveProperty("problem", expect.stringMatching(/^invalid (?:method|path) "/));
  });

  test.each(["", "/", "//", "/a//b/", "/%2F/%ff/..", "/\u00fc"])(
    "the path after proxy stays as sent: %j",
    (tail) => {
      const target = `/api/v1/namespaces/a/services/https%3Ab/proxy${tail}?x=%2F&y`;

      expect(parseRequest("POST", target).info).toMatchObject({
        verb: "create",
        name: "https:b",
        subresource: "proxy",
        path: "/api/v1/namespaces/a/services/https:b/proxy",
        rest: tail,
        rawQuery: "?x=%2F&y",
      });
    },
  );

  test("the path after a subresource other than proxy has parts", () => {
    expect(parseRequest("GET", "/api/v1/nodes/a/log/b%20c/").info).toMatchObject({ rest: "/b%20c" });
    expect(parseRequest("GET", "/api/v1/nodes/a/log/").info).toMatchObject({ rest: "" });
  });
});

describe("the access that a request needs", () => {
  const MAPS = "/api/v1/namespaces/a/configmaps";

  test.each([
    ["GET", "/api/v1/namespaces/a", ["a", "a", "", ""]],
    ["GET", `${MAPS}?fieldSelector=metadata.name%3Db`, ["a", "b", "metadata.name=b", ""]],
    ["GET", `${MAPS}?watch=1&fieldSelector=metadata.name==b`, ["a", "b", "metadata.name==b", ""]],
    ["GET", `${MAPS}?fieldSelector=metadata.name!%3Db`, ["a", "", "metadata.name!=b", ""]],
    ["GET", `${MAPS}?fieldSelector=metadata.name%3Db%2Fc`, ["a", "", "metadata.name=b/c", ""]],
    ["GET", `${MAPS}?fieldSelector=metadata.name%3Db&fieldSelector=x`, ["a", "b", "metadata.name=b", ""]],
    ["DELETE", `${MAPS}?fieldSelector=metadata.name%3Db`, ["a", "", "metadata.name=b", ""]],
    ["DELETE", `${MAPS}?labelSelector=c`, ["a", "", "", "c"]],
    ["POST", `${MAPS}?fieldSelector=metadata.name%3Db`, ["a", "", "", ""]],
    ["GET", `${MAPS}/d?fieldSelector=metadata.name%3Db`, ["a", "d", "", ""]],
    ["GET", "/api/v1/watch/configmaps?fieldSelector=metadata.name%3Db", ["", "", "", ""]],
  ])("of %s %s is %j", (method, target, expected) => {
    expect(access(method, target)).toEqual(expected);
  });
});

const METHODS: Readonly<Record<string, readonly [onObject: string, onCollection: string]>> = {
  GET: ["get", "list"],
  HEAD: ["get", "list"],
  POST: ["create", "create"],
  PUT: ["update", "update"],
  PATCH: ["patch", "patch"],
  DELETE: ["delete", "deletecollection"],
};
const PART = "[^/]*";
const RESOURCE = new RegExp(
  `^(?:api|apis/(?<group>${PART}))/(?<version>${PART})/(?:(?<old>watch|proxy)/)?` +
    `(?:namespaces/(?<within>${PART})/(?!(?:status|finalize)(?:/|$)))?` +
    `(?<resource>${PART})(?:/(?<name>${PART}))?(?:/(?<subresource>${PART}))?(?<tail>/.*)?$`,
  "s",
);

type Found = Readonly<Record<string, string | undefined>>;

/** A second, independent implementation of upstream's request parsing. Undefined if the request must be refused. */
function reference(method: string, path: string): readonly string[] | undefined {
  if (!/^[A-Z]+$/.test(method)) return undefined;
  const parts =
    path === "/"
      ? []
      : path
          .replace(/^\/|\/$/g, "")
          .split("/")
          .map(unescaped);
  const text = parts.join("/");
  const found = RESOURCE.exec(text)?.groups;
  if (found !== undefined) return isRefused(path, text, found) ? undefined : meaning(method, found);
  return parts.includes("") ? undefined : [method.toLowerCase(), decodeURIComponent(path)];
}

function isRefused(
  path: string,
  text: string,
  { old, within, resource, subresource, tail = "" }: Found,
): boolean {
  const isCut = old === undefined && within === undefined && /^(?:watch|proxy)$/.test(resource ?? "");
  const isProxied = subresource === "proxy" && old !== "proxy";
  const own = isProxied ? text.slice(0, text.length - tail.length) : text;
  return isCut || own.split("/").includes("") || (isProxied && /%(?![0-9a-f]{2})/i.test(path));
}

function meaning(method: string, found: Found): readonly string[] {
  const [group, version, resource, name, subresource] = GROUPS.map((group) => found[group] ?? "");
  const verb = found["old"] ?? METHODS[method]?.[name === "" ? 1 : 0];
  const namespace = found["within"] ?? (resource === "namespaces" ? name : "");
  const last = found["old"] === "proxy" ? "" : subresource;
  return [verb, group, version, namespace, resource, name, last].map((text) => text ?? "");
}

const GROUPS = ["group", "version", "resource", "name", "subresource"];

/** Empty also if the part must be refused. */
function unescaped(part: string): string {
  try {
    const text = decodeURIComponent(part);
    return text.includes("/") ? "" : text;
  } catch {
    return "";
  }
}

function parsed(method: string, path: string): readonly string[] | undefined {
  const { info } = parseRequest(method, path);
  if (info.type === "other") return info.problem === undefined ? [info.verb, info.path] : undefined;
  const { verb, group, version, accessNamespace, resource, name, subresource } = info;
  return [verb, group, version, accessNamespace, resource, name, subresource];
}

describe("the parser, compared with a reference", () => {
  const methods = fc.constantFrom(
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "OPTIONS",
    "TRACE",
    "get",
    "Put",
  );
  const words = ["api", "apis", "v1", "namespaces", "watch", "proxy", "status", "pods", "a", "log", "g.io"];
  const odd = ["", "%ff", "%", "%2F", "%2e%2e", "..", "%70roxy", "%77atch", "%61pi", "x%20y", "%00"];
  const part = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...words) }, fc.constantFrom(...odd));
  const heads = fc.constantFrom("/", "/api/v1/", "/apis/g.io/v1/", "/api/v1/namespaces/a/", "//api/");
  const paths = fc
    .tuple(heads, fc.array(part, { maxLength: 8 }))
    .map(([head, rest]) => head + rest.join("/"));

  test("returns the reference's result or refusal for every request", () => {
    fc.assert(
      fc.property(methods, paths, (method, path) => {
        const expected = reference(method, path);
        const found = parsed(method, path);
        expect(found).toEqual(expected);
      }),
      { numRuns: 20_000, seed: 1 },
    );
  });

  test("returns a path that parses to the same result", () => {
    fc.assert(
      fc.property(methods, paths, (method, path) => {
        const { info } = parseRequest(method, path);
        if (info.type === "other") return;
        const again = parseRequest(
          method,
          info.path.split("/").map(encodeURIComponent).join("/") + info.rest,
        );
        const { rawPath: _raw, ...meaning } = again.info;
        const { rawPath: _sent, ...expected } = info;
        expect(meaning).toEqual(expected);
      }),
      { numRuns: 20_000, seed: 2 },
    );
  });
});

const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

test.each([
  ["GET", "/readyz", undefined, true],
  ["GET", "/livez/etcd?verbose", undefined, true],
  ["GET", "/livezone", undefined, false],
  ["GET", "/api/v1/pods?x=/livez", "alice", false],
  ["PUT", `${LEASES}/node-1`, "system:node:node-1", true],
  ["PATCH", `${LEASES}/node-1?fieldManager=kubelet`, "system:node:node-1", true],
  ["GET", `${LEASES}/node-1`, "system:node:node-1", true],
  ["POST", LEASES, "system:node:node-1", true],
  ["PUT", `${LEASES}/node-1`, undefined, false],
  ["DELETE", `${LEASES}/node-1`, "alice", false],
  ["GET", `${LEASES}?watch=1`, "alice", false],
  ["PUT", `${LEASES}/node-1/status`, "alice", false],
] as const)("%s %s of user %s is urgent: %s", (...[method, target, user, expected]) => {
  expect(isUrgent({ method, target, user })).toBe(expected);
});
