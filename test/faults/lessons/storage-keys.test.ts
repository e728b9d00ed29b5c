/**
 * CVE-2015-5305, CVE-2022-3162, CVE-2019-11247: an API path maps to one key of the store, and no name, namespace or kind leads to the key
 * of another object.
 */
import { describe, expect, test } from "vitest";
import { groupVersions } from "../../../src/api/schema/resource-facts.ts";
import { TestApi, text, watchEvents, listOf } from "../../api-harness.ts";
import { custom, defineKind, definitionOf, DEFINITIONS, made } from "./custom-kind.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
const HIDDEN = "hidden from everybody";

/** A server with a Secret and a ConfigMap, and the content of its store. */
async function started(): Promise<{ api: TestApi; before: string }> {
  const api = await TestApi.start(["default", "other"]);
  const secret = { metadata: { name: "s" }, stringData: { value: HIDDEN } };
  await made(api.send("POST", "/api/v1/namespaces/other/secrets", secret));
  await made(api.send("POST", MAPS, { metadata: { name: "a" } }));
  return { api, before: stored(api) };
}

function stored({ store }: TestApi): string {
  return [...store.view.range("", "\u{10ffff}")].map(({ key, version }) => `${key} ${version}`).join("\n");
}

describe("a path that is written to lead elsewhere", () => {
  const SEGMENTS = [
    "..",
    "%2e%2e",
    "..%2f..%2fsecrets%2fother%2fs",
    "..%2fother%2fs",
    "%2fregistry%2fsecrets%2fother%2fs",
    "%00",
    "s%00",
    ".",
    "%252e%252e%252fs",
    "..%5c..%5csecrets",
    "%ef%bc%8e%ef%bc%8e%ef%bc%8fs",
    "a".repeat(5000),
    "%f0%9f%98%80",
  ];
  const TARGETS = SEGMENTS.flatMap((segment) => [
    `${MAPS}/${segment}`,
    `/api/v1/namespaces/${segment}/configmaps/a`,
    `/api/v1/namespaces/other%2fsecrets/${segment}/s`,
    `/api/v1/configmaps/${segment}`,
    `${LEASES}/${segment}`,
    `/api/v1/nodes/${segment}`,
  ]);

  test("reads nothing that it does not name", async () => {
    const { api } = await started();
    await using _closing = api;

    for (const target of [...TARGETS, "/api/v1/configmaps/default%2fa", "/api/v1/secrets/other%2fs"]) {
      const { code, bytes } = await api.send("GET", target);

      // Names that would reach another key are refused; all others name absent objects.
      expect([target, [400, 404].includes(code)]).toEqual([target, true]);
      expect(bytes.toString()).not.toContain(Buffer.from(HIDDEN).toString("base64"));
    }
  });

  test.each(["PUT", "PATCH", "DELETE", "POST"])("changes nothing by %s", async (method) => {
    const { api, before } = await started();
    await using _closing = api;

    for (const target of TARGETS) {
      const name = decodeURIComponent(target.slice(target.lastIndexOf("/") + 1));
      const patched = { type: "application/merge-patch+json" };
      const { code } = await api.send(
        method,
        target,
        { metadata: { name } },
        method === "PATCH" ? patched : {},
      );

      expect([target, code >= 400 && code < 500]).toEqual([target, true]);
    }
    expect(stored(api)).toBe(before);
  });

  test.each(["GET", "DELETE"])("lists nothing of others by %s", async (method) => {
    const { api, before } = await started();
    await using _closing = api;

    for (const segment of ["..", "%2e%2e%2fsecrets", "other%2fs", "default%2f", "%00", "def", "othe"]) {
      const target = `/api/v1/namespaces/${segment}/configmaps`;
      const { body } = await api.send(method, target);

      expect([target, body["items"] ?? []]).toEqual([target, []]);
    }
    expect(stored(api)).toBe(before);
  });
});

describe("a token to go on with", () => {
  test.each<readonly [string, unknown]>([
    ["the beginning of everything", "\u0000"],
    ["a way out", "../secrets/other/"],
    ["a way out in the middle", "a/../../secrets"],
    ["a place of its own", "/registry/secrets/"],
    ["the end of everything", "\uffff"],
    ["no text", { toString: 1 }],
  ])("that somebody made up shows nothing of others: %s", async (_what, start) => {
    const { api } = await started();
    await using _closing = api;
    await made(api.send("POST", "/api/v1/namespaces/other/configmaps", { metadata: { name: "b" } }));

    for (const rv of [-1, 1, Number.MAX_SAFE_INTEGER]) {
      const token = Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv, start })).toString("base64url");
      const { code, body } = await api.send("GET", `${MAPS}?limit=500&continue=${token}`);

      const items = listOf(body["items"]);
      const found = items.map((item) => `${text(item["kind"])}/${text(item["metadata"]?.["name"])}`);
      expect([[], ["/a"], ["ConfigMap/a"]]).toContainEqual(found);
      expect([200, 400, 410, 504]).toContain(code);
    }
  });
});

describe("an object whose name is a path", () => {
  test.each([
    "..",
    ".",
    "a/b",
    "../../secrets/other/s",
    "a%2fb",
    "a\u0000b",
    "/",
    "",
    "a\nb",
    "x".repeat(254) + "/",
  ])("is not created: %j", async (name) => {
    const { api, before } = await started();
    await using _closing = api;

    for (const collection of [MAPS, LEASES, "/api/v1/namespaces"]) {
      const { code } = await api.send("POST", collection, { metadata: { name } });
      expect([collection, code]).toEqual([collection, 422]);
    }
    expect(stored(api)).toBe(before);
  });

  test.each(["..", ".", "a/b", "a%2fb"])("is not created where nearly any name may be: %j", async (name) => {
    const { api, before } = await started();
    await using _closing = api;

    expect((await api.send("POST", ROLES, { metadata: { name } })).code).toBe(422);
    expect(stored(api)).toBe(before);
  });

  test("is not made by a prefix of a name either", async () => {
    const { api, before } = await started();
    await using _closing = api;

    const { code } = await api.send("POST", MAPS, { metadata: { generateName: "../../secrets/other/" } });

    expect(code).toBe(422);
    expect(stored(api)).toBe(before);
  });

  test("cannot be put through the namespace that an object says", async () => {
    const { api, before } = await started();
    await using _closing = api;

    for (const namespace of ["../other", "other", "default/..", "\u0000"]) {
      const { code } = await api.send("POST", MAPS, { metadata: { name: "b", namespace } });
      expect([namespace, code >= 400 && code < 500]).toEqual([namespace, true]);
    }
    expect(stored(api)).toBe(before);
  });
});

describe("kinds and namespaces of which one begins like the other", () => {
  const at = (namespace: string, kind: string): string =>
    `/apis/example.com/v1/namespaces/${namespace}/${kind}`;

  async function filled(): Promise<TestApi> {
    const api = await TestApi.start(["a", "ab"]);
    for (const plural of ["foo", "foobar", "foo-bar"]) await defineKind(api, { plural });
    for (const namespace of ["a", "ab"])
      for (const kind of ["foo", "foobar", "foo-bar"])
        await made(api.send("POST", at(namespace, kind), custom(kind, `${namespace}-${kind}`)));
    return api;
  }

  async function names(api: TestApi, target: string): Promise<readonly string[]> {
    const { body } = await made(api.send("GET", target));
    return listOf(body["items"]).map((item) => text(item["metadata"]?.["name"]));
  }

  test("are listed apart", async () => {
    await using api = await filled();

    expect(await names(api, at("a", "foo"))).toEqual(["a-foo"]);
    expect(await names(api, "/apis/example.com/v1/foo")).toEqual(["a-foo", "ab-foo"]);
    expect(await names(api, `${at("a", "foo")}?limit=500`)).toEqual(["a-foo"]);
  });

  test.each(["/apis/example.com/v1/foo", "/apis/example.com/v1/namespaces/a/foo"])(
    "are watched apart: %s",
    async (target) => {
      await using api = await filled();
      const ending = new AbortController();
      const response = await api.raw("GET", `${target}?watch=1`, undefined, { signal: ending.signal });
      const last = custom("foo", "last");
      for (const kind of ["foobar", "foo-bar"])
        await made(api.send("POST", at("a", kind), custom(kind, "new")));
      await made(api.send("POST", at("a", "foo"), last));

      const seen: string[] = [];
      for await (const { object } of watchEvents(response)) {
        seen.push(`${text(object["kind"])} ${text(object["metadata"]?.["name"])}`);
        if (seen.at(-1) === "foo last") break;
      }
      ending.abort();

      const others = target.includes("namespaces") ? [] : ["foo ab-foo"];
      expect(seen).toEqual(["foo a-foo", ...others, "foo last"]);
    },
  );

  test("are watched apart when it is one object that is watched", async () => {
    await using api = await filled();
    const ending = new AbortController();
    const target = `${at("a", "foo")}?watch=1&fieldSelector=metadata.name%3Da-foo`;
    const response = await api.raw("GET", target, undefined, { signal: ending.signal });
    for (const name of ["a-foo-bar", "a-foobar"])
      await made(api.send("POST", at("a", "foo"), custom("foo", name)));
    await made(api.send("DELETE", `${at("a", "foo")}/a-foo`));

    const seen: string[] = [];
    for await (const { type, object } of watchEvents(response)) {
      seen.push(`${type} ${text(object["metadata"]?.["name"])}`);
      if (type === "DELETED") break;
    }
    ending.abort();

    expect(seen).toEqual(["ADDED a-foo", "DELETED a-foo"]);
  });

  test("are deleted apart", async () => {
    await using api = await filled();

    await made(api.send("DELETE", at("a", "foo")));

    expect(await names(api, "/apis/example.com/v1/foo")).toEqual(["ab-foo"]);
    expect(await names(api, "/apis/example.com/v1/foobar")).toEqual(["a-foobar", "ab-foobar"]);
    expect(await names(api, "/apis/example.com/v1/foo-bar")).toEqual(["a-foo-bar", "ab-foo-bar"]);
  });

  test("count apart in a quota", async () => {
    await using api = await filled();
    await made(
      api.send("POST", "/api/v1/namespaces/a/resourcequotas", {
        metadata: { name: "q" },
        spec: { hard: { "count/foo.example.com": "1" } },
      }),
    );
    const quota = "/api/v1/namespaces/a/resourcequotas/q/status";
    const status = { hard: { "count/foo.example.com": "1" }, used: { "count/foo.example.com": "0" } };
    await made(api.send("PATCH", quota, { status }, { type: "application/merge-patch+json" }));

    const others = [
      await api.send("POST", at("a", "foobar"), custom("foobar", "x")),
      await api.send("POST", at("ab", "foo"), custom("foo", "x")),
    ];
    const first = await api.send("POST", at("a", "foo"), custom("foo", "x"));
    const second = await api.send("POST", at("a", "foo"), custom("foo", "y"));

    expect([...others, first, second].map(({ code }) => code)).toEqual([201, 201, 201, 403]);
  });
});

describe("the places of kinds", () => {
  test("do not lie within each other", () => {
    const prefixes = groupVersions()
      .flatMap(({ resources }) => resources.flatMap(({ storage }) => storage?.prefix ?? []))
      .map((prefix) => `${prefix}/`);
    const distinct = [...new Set(prefixes)];

    const within = distinct.filter((one) => distinct.some((other) => one !== other && one.startsWith(other)));

    expect(distinct.length).toBeGreaterThan(50);
    expect(within).toEqual([]);
  });

  test.each(["configmaps", "secrets", "services", "..", "a/b", "apps", "registry"])(
    "are not taken by a kind of the group %j",
    async (group) => {
      await using api = await TestApi.start();

      const { code } = await api.send("POST", DEFINITIONS, definitionOf({ plural: "default", group }));

      expect(code).toBe(422);
    },
  );
});

describe("a kind of the cluster, under a namespace, and one of namespaces, without", () => {
  test("is not there, whatever is asked", async () => {
    await using api = await TestApi.start();
    await defineKind(api, { plural: "wide", scope: "Cluster" });
    await defineKind(api, { plural: "narrow" });
    await made(api.send("POST", "/apis/example.com/v1/wide", custom("wide", "w")));
    await made(api.send("POST", "/apis/example.com/v1/namespaces/default/narrow", custom("narrow", "n")));
    const targets = [
      "/apis/example.com/v1/namespaces/default/wide/w",
      "/apis/example.com/v1/narrow/n",
      "/apis/example.com/v1/narrow/default%2fn",
    ];
    const revision = api.store.view.revision;

    for (const target of targets) {
      for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
        const { code } = await api.send(method, target, method === "GET" ? undefined : {}, {
          type: method === "PATCH" ? "application/merge-patch+json" : "application/json",
        });
        // The server refuses an escaped slash before it looks up anything.
        expect([method, target, code]).toEqual([method, target, target.includes("%") ? 400 : 404]);
      }
    }
    const collections = ["/apis/example.com/v1/namespaces/default/wide", "/api/v1/namespaces/default/nodes"];
    for (const target of collections) {
      expect((await api.send("GET", target)).code).toBe(404);
      expect((await api.send("GET", `${target}?watch=1`)).code).toBe(404);
      expect((await api.send("DELETE", target)).code).toBe(404);
      expect((await api.send("POST", target, { metadata: { name: "x" } })).code).toBe(404);
    }
    expect(api.store.view.revision).toBe(revision);
  });
});
