import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { WireReader } from "../../../api/protobuf/wire-reader.ts";
import { VirtualLoop } from "../../../base/loop/virtual/virtual-loop.ts";
import { Registry } from "../../objects/registry.ts";
import type { AcceptedRequest, HttpResponse } from "../../request/http.ts";
import { parseRequest } from "../../request/parse-request.ts";
import { RequestNotes } from "../../request/request-notes.ts";
import { encodeV3Document, encodeV3Entries } from "./gnostic-v3.ts";
import { encodeDocument, encodeEntries } from "./gnostic.ts";
import { openApiRoute } from "./openapi.ts";

const loop = new VirtualLoop({ seed: 1, outside: ["gzip"] });
const route = openApiRoute(new Registry([]), loop);
const DEPLOYMENT = { group: "apps", version: "v1", kind: "Deployment" };
const GNOSTIC = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

async function ask(target: string, headers: Readonly<Record<string, string>> = {}): Promise<HttpResponse> {
  const request: AcceptedRequest = {
    headers: new Map(Object.entries(headers)),
    peer: undefined,
    signal: new AbortController().signal,
    readBody: () => Promise.resolve(new Uint8Array()),
  };
  const answer = route({
    request,
    ...parseRequest("GET", target),
    user: undefined,
    notes: new RequestNotes(),
  });
  if (answer === undefined) throw new Error(`${target} is not served`);
  await loop.settle();
  return answer;
}

async function read(target: string): Promise<Record<string, Record<string, JsonObject>>> {
  const { body } = await ask(target);
  return JSON.parse(Buffer.from(body as Uint8Array).toString()) as Record<string, Record<string, JsonObject>>;
}

/** Every `$ref` in a document. */
function* references(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (key === "$ref" && typeof member === "string") yield member;
    else yield* references(member);
  }
}

describe("/openapi/v3", () => {
  test("the index lists a document with its hash for each group version", async () => {
    const { paths } = await read("/openapi/v3");

    const address = String(paths?.["apis/apps/v1"]?.["serverRelativeURL"]);
    const { status, headers } = await ask(address);
    const moved = await ask("/openapi/v3/apis/apps/v1?hash=OLD");

    expect(address).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{64}$/);
    expect(status).toBe(200);
    expect(headers.get("cache-control")).toBe("public, immutable");
    expect(moved).toMatchObject({ status: 301 });
    expect(moved.headers.get("location")).toBe(address);
  });

  test.each([
    ["api", "getCoreAPIVersions", "core"],
    ["apis", "getAPIVersions", "apis"],
    ["apis/rbac.authorization.k8s.io", "getRbacAuthorizationAPIGroup", "rbacAuthorization"],
    ["version", "getCodeVersion", "version"],
    [".well-known/openid-configuration", "getServiceAccountIssuerOpenIDConfiguration", "WellKnown"],
    ["openid/v1/jwks", "getServiceAccountIssuerOpenIDKeyset", "openid"],
  ])("%s has a document", async (name, operationId, tag) => {
    const path = `/${name}/`;
    const { paths: index } = await read("/openapi/v3");
    const document = await read(String(index?.[name]?.["serverRelativeURL"]));

    expect(Object.keys(document["paths"] ?? {})).toEqual([path]);
    expect(document["paths"]?.[path]).toMatchObject({ get: { operationId, tags: [tag] } });
    const schemas = document["components"]?.["schemas"] ?? {};
    const missing = [...references(document)].filter(
      (ref) => !(ref.replace("#/components/schemas/", "") in schemas),
    );
    expect(missing).toEqual([]);
    expect((await read("/openapi/v2"))["paths"]?.[path]).toMatchObject({ get: { operationId } });
  });

  test("the version and token key documents describe their media types", async () => {
    const version = await read("/openapi/v3/version");
    const keys = await read("/openapi/v3/openid/v1/jwks");

    expect(version["components"]?.["schemas"]).toHaveProperty([
      "io.k8s.apimachinery.pkg.version.Info",
      "properties",
      "gitVersion",
    ]);
    expect(keys["paths"]?.["/openid/v1/jwks/"]).toMatchObject({
      get: {
        responses: { "200": { content: { "application/jwk-set+json": { schema: { type: "string" } } } } },
      },
    });
  });

  test("a group version's document describes the resource list", async () => {
    const { paths } = await read("/openapi/v3/apis/apps/v1");

    expect(paths?.["/apis/apps/v1/"]).toMatchObject({
      get: { operationId: "getAppsV1APIResources", tags: ["apps_v1"] },
    });
  });

  test("kinds have their published definitions", async () => {
    const { components } = await read("/openapi/v3/apis/apps/v1");
    const schemas = components?.["schemas"] as Record<string, JsonObject>;

    expect(schemas["io.k8s.api.apps.v1.Deployment"]).toMatchObject({
      type: "object",
      description: expect.stringMatching(/^Deployment /) as string,
      "x-kubernetes-group-version-kind": [DEPLOYMENT],
      properties: {
        apiVersion: { type: "string", description: expect.stringMatching(/^apiVersion /) as string },
        spec: { allOf: [{ $ref: "#/components/schemas/io.k8s.api.apps.v1.DeploymentSpec" }] },
      },
    });
    expect(schemas["io.k8s.api.core.v1.Container"]?.["properties"]).toMatchObject({
      ports: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["containerPort", "protocol"],
        "x-kubernetes-patch-merge-key": "containerPort",
        "x-kubernetes-patch-strategy": "merge",
      },
    });
    expect(schemas["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]).toEqual({
      description: expect.stringMatching(/^IntOrString /) as string,
      format: "int-or-string",
      oneOf: [{ type: "integer" }, { type: "string" }],
    });
  });

  test("every reference resolves within its document", async () => {
    const { paths } = await read("/openapi/v3");

    for (const path of Object.keys(paths ?? {})) {
      const document = await read(`/openapi/v3/${path}`);
      const schemas = document["components"]?.["schemas"] ?? {};
      const missing = [...references(document)].filter(
        (ref) => !(ref.replace("#/components/schemas/", "") in schemas),
      );
      expect(missing).toEqual([]);
    }
  });

  test("a patch lists its parameters", async () => {
    const { paths } = await read("/openapi/v3/apis/apps/v1");

    expect(paths?.["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]?.["patch"]).toMatchObject({
      operationId: "patchAppsV1NamespacedDeployment",
      tags: ["apps_v1"],
      "x-kubernetes-action": "patch",
      "x-kubernetes-group-version-kind": DEPLOYMENT,
      parameters: ["dryRun", "fieldManager", "fieldValidation", "force"].map((name) => ({
        name,
        in: "query",
      })),
    });
  });

  test("built-in kinds have the deprecated watch paths", async () => {
    const { paths } = await read("/openapi/v3/apis/apps/v1");
    const watches = Object.entries(paths ?? {}).flatMap(([path, { get }]) => {
      const { operationId, "x-kubernetes-action": action } = get as JsonObject;
      return path.startsWith("/apis/apps/v1/watch/") && path.includes("/deployments")
        ? [[path.slice("/apis/apps/v1/watch/".length), operationId, action]]
        : [];
    });
    const one = paths?.["/apis/apps/v1/watch/namespaces/{namespace}/deployments/{name}"]?.["get"];

    expect(watches).toEqual([
      ["namespaces/{namespace}/deployments", "watchAppsV1NamespacedDeploymentList", "watchlist"],
      ["namespaces/{namespace}/deployments/{name}", "watchAppsV1NamespacedDeployment", "watch"],
      ["deployments", "watchAppsV1DeploymentListForAllNamespaces", "watchlist"],
    ]);
    expect((one as JsonObject)["responses"]).toMatchObject({
      200: {
        content: {
          "application/json;stream=watch": {
            schema: { $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent" },
          },
        },
      },
    });
  });

  test.each([
    ["pods", "core.v1.Pod"],
    ["configmaps", "apimachinery.pkg.apis.meta.v1.Status"],
  ])("DELETE of %s answers with %s", async (resource, name) => {
    const { paths } = await read("/openapi/v3/api/v1");

    const item = paths?.[`/api/v1/namespaces/{namespace}/${resource}/{name}`] as JsonObject;
    const { responses } = item["delete"] as { responses: object };

    expect(JSON.stringify(responses)).toContain(`${name}"`);
  });

  test.each(["v3@v1.0", "v3.v1.0"])(
    "a v3 document has a protobuf form under %s with the same ETag",
    async (name) => {
      const accept = `application/com.github.proto-openapi.spec.${name}+protobuf`;
      const json = await ask("/openapi/v3/apis/apps/v1");
      const { headers, body } = await ask("/openapi/v3/apis/apps/v1", { accept });

      const reader = new WireReader(body as Uint8Array);
      expect(headers.get("content-type")).toBe("application/com.github.proto-openapi.spec.v3.v1.0+protobuf");
      expect(headers.get("etag")).toBe(json.headers.get("etag"));
      expect(reader.small(reader.length)).toBe(0x0a);
      expect(Buffer.from(reader.bytes(reader.length)).toString()).toBe("3.0.0");
    },
  );

  test("protobuf v3 values are nested as in the descriptors", () => {
    const schema = { type: "array", items: { $ref: "#/b" }, maxItems: 3, default: ["c"], "x-y": ["z"] };

    const schemas = [encodeV3Entries("schemas", { a: schema })];
    const bytes = encodeV3Document({ head: {}, paths: [], schemas });

    const limit = "900103";
    const type = "ca0105" + hex("array");
    const items = "f20109" + "0a07" + "1205" + "0a03" + hex("#/b");
    const initial = "8a0200";
    const extension = "a2020d" + "0a03" + hex("x-y") + "1206" + "1204" + hex("- z\n");
    const content = limit + type + items + initial + extension;
    expect(Buffer.from(bytes).toString("hex")).toBe(
      "2200" + "2a35" + "0a33" + "0a31" + "0a01" + hex("a") + "122c" + "0a2a" + content,
    );
  });

  test("operations have the names that generated clients use", async () => {
    const { paths } = await read("/openapi/v3/api/v1");
    const ids = Object.values(paths ?? {}).flatMap((item) =>
      Object.values(item).flatMap((operation) => (operation as JsonObject)["operationId"] ?? []),
    );

    expect(ids).toEqual(
      expect.arrayContaining([
        "listCoreV1NamespacedPod",
        "listCoreV1PodForAllNamespaces",
        "deleteCoreV1CollectionNamespacedPod",
        "readCoreV1NamespacedPodStatus",
        "replaceCoreV1NamespaceFinalize",
        "createCoreV1NamespacedPodEviction",
        "connectCoreV1GetNamespacedPodExec",
        "listCoreV1Node",
      ]),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("/openapi/v2", () => {
  test("v2 is one document in which every reference resolves", async () => {
    const document = await read("/openapi/v2");

    const { definitions = {}, parameters = {} } = document;
    expect(document).toMatchObject({ swagger: "2.0", info: { title: "Kubernetes", version: "1.36" } });
    const missing = [...references(document)].filter((ref) => {
      const [, part = "", name = ""] = ref.split("/");
      return !(name in (part === "parameters" ? parameters : definitions));
    });
    expect(missing).toEqual([]);
    expect(definitions["io.k8s.api.core.v1.Pod"]?.["x-kubernetes-group-version-kind"]).toEqual([
      { group: "", version: "v1", kind: "Pod" },
    ]);
  });

  test("the document describes the authentication", async () => {
    expect(await read("/openapi/v2")).toMatchObject({
      security: [{ BearerToken: [] }],
      securityDefinitions: { BearerToken: { type: "apiKey", in: "header", name: "authorization" } },
    });
  });

  test("each parameter occurs once, except those that clients look for at an operation", async () => {
    const { paths = {}, parameters = {} } = await read("/openapi/v2");
    const item = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"] ?? {};
    const placed = (item["patch"] as { readonly parameters: readonly JsonObject[] }).parameters;
    const inline = placed.flatMap(({ name }) => (name === undefined ? [] : [name]));
    const shared = placed.flatMap(({ $ref }) => (typeof $ref === "string" ? [$ref] : []));

    expect(inline).toEqual(["dryRun", "fieldValidation"]);
    expect(shared.map((ref) => ref.replace(/-.{8}$/, ""))).toEqual([
      "#/parameters/body",
      "#/parameters/fieldManager",
      "#/parameters/force",
    ]);
    expect(Object.keys(parameters)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^watch-[\w-]{8}$/) as string]),
    );
    for (const [name, parameter] of Object.entries(parameters))
      expect(name.startsWith(`${String(parameter["name"])}-`)).toBe(true);
  });

  test.each([
    ["namespaces/{namespace}/pods/{name}", "NamespacedPod"],
    ["namespaces/{namespace}/services/{name}", "NamespacedService"],
    ["nodes/{name}", "Node"],
  ])("the proxy of %s has every method, with and without a path", async (place, kind) => {
    const { paths = {} } = await read("/openapi/v2");
    const idsAt = (path: string): readonly unknown[] =>
      Object.entries(paths[path] ?? {}).flatMap(([method, operation]) =>
        method === "parameters" ? [] : [(operation as JsonObject)["operationId"]],
      );
    const methods = ["Delete", "Get", "Head", "Options", "Patch", "Post", "Put"];
    const ids = methods.map((method) => `connectCoreV1${method}${kind}Proxy`);

    expect(new Set(idsAt(`/api/v1/${place}/proxy`))).toEqual(new Set(ids));
    expect(new Set(idsAt(`/api/v1/${place}/proxy/{path}`))).toEqual(
      new Set(ids.map((id) => `${id}WithPath`)),
    );
  });

  test("descriptions of items name the kind of the list", async () => {
    const { definitions = {} } = await read("/openapi/v2");
    const items = (kind: string): unknown => {
      const properties = definitions[`io.k8s.api.${kind}List`]?.["properties"] as JsonObject | undefined;
      return (properties?.["items"] as JsonObject | undefined)?.["description"];
    };

    expect(items("core.v1.Service")).toBe("List of services.");
    expect(items("core.v1.Endpoints")).toBe("List of endpoints.");
    expect(items("networking.v1.NetworkPolicy")).toBe("List of networkpolicies.");
    expect(items("networking.v1.IngressClass")).toBe("List of ingressclasses.");
  });

  test("v2 answers 304 to its ETag, and is compressed on request", async () => {
    const { headers } = await ask("/openapi/v2");
    const zipped = await ask("/openapi/v2", { "accept-encoding": "gzip" });
    const again = await ask("/openapi/v2", { "if-none-match": headers.get("etag") ?? "" });

    expect(again.status).toBe(304);
    expect(JSON.parse(gunzipSync(zipped.body as Uint8Array).toString())).toEqual(await read("/openapi/v2"));
  });

  test("v2 has a protobuf form under the name that clients use", async () => {
    const { headers, body } = await ask("/openapi/v2", { accept: GNOSTIC });

    const reader = new WireReader(body as Uint8Array);
    expect(headers.get("content-type")).toBe("application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
    expect(reader.small(reader.length)).toBe(0x0a);
    expect(Buffer.from(reader.bytes(reader.length)).toString()).toBe("2.0");
  });

  test("protobuf v2 parameters and security match the descriptors", () => {
    const query = { description: "d", in: "query", name: "n", type: "string", uniqueItems: true };
    const token = { type: "apiKey", name: "a", in: "header", description: "d" };
    const head = { security: ["T"], securityDefinitions: { T: token }, parameters: { p: query } };

    const bytes = encodeDocument({ head, paths: [], definitions: [] });
    const item = encodeEntries("paths", { "/": { parameters: [{ $ref: "#/p" }], head: {} } });

    const named = (name: string, value: string): string =>
      sized("0a", sized("0a", hex(name)) + sized("12", value));
    const place = sized("12", hex("query")) + sized("1a", hex("d")) + sized("22", hex("n"));
    const sub = place + sized("32", hex("string")) + "a00101";
    const parameter = sized("52", named("p", sized("12", sized("1a", sub))));
    const requirement = sized("62", sized("0a", sized("0a", hex("T"))));
    const key = sized("0a", hex("apiKey")) + sized("12", hex("a")) + sized("1a", hex("header"));
    const definition = sized("6a", named("T", sized("12", key + sized("22", hex("d")))));
    expect(Buffer.from(bytes).toString("hex")).toBe(`${parameter}${requirement}${definition}42004a00`);
    const pathItem = `3a00${sized("4a", sized("12", sized("0a", hex("#/p"))))}`;
    expect(Buffer.from(item).toString("hex")).toBe(
      sized("12", sized("0a", hex("/")) + sized("12", pathItem)),
    );
  });

  test("protobuf v2 values are nested as in the descriptors", () => {
    const schema = { type: "array", items: { $ref: "#/b" }, "x-y": ["z"] };

    const bytes = encodeEntries("definitions", { a: schema });

    const type = "b20107" + "0a05" + hex("array");
    const items = "ba0107" + "0a05" + "0a03" + hex("#/b");
    const extension = "fa010d" + "0a03" + hex("x-y") + "1206" + "1204" + hex("- z\n");
    expect(Buffer.from(bytes).toString("hex")).toBe(
      "0a29" + "0a01" + hex("a") + "1224" + type + items + extension,
    );
  });
});

describe("document creation", () => {
  test.each([
    ["/openapi/v2", GNOSTIC],
    ["/openapi/v2", "application/json"],
    ["/openapi/v3/api/v1", "application/json"],
    ["/openapi/v3/api/v1", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf"],
  ])("the creation of %s as %s yields to other requests after a few members", async (path, accept) => {
    const fresh = new VirtualLoop({ seed: 1, outside: ["gzip"] });
    const request = { headers: new Map([["accept", accept]]) };
    let turns = 0;
    let isDone = false;
    const other = (): void => {
      turns += 1;
      if (!isDone) fresh.post("request", other);
    };

    const answer = openApiRoute(
      new Registry([]),
      fresh,
    )({
      request: { ...request, peer: undefined, signal: new AbortController().signal, readBody: noBody },
      ...parseRequest("GET", path),
      user: undefined,
      notes: new RequestNotes(),
    });
    other();
    void Promise.resolve(answer).then(() => (isDone = true));
    await fresh.settle();

    expect(isDone).toBe(true);
    expect(turns).toBeGreaterThan(100);
  });

  function noBody(): Promise<Uint8Array> {
    return Promise.resolve(new Uint8Array());
  }
});

/** A field that holds fewer than 128 bytes. */
function sized(tag: string, content: string): string {
  return tag + (content.length / 2).toString(16).padStart(2, "0") + content;
}

function hex(text: string): string {
  return Buffer.from(text).toString("hex");
}
