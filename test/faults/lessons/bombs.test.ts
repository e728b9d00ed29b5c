/**
 * CVE-2019-1002100, CVE-2019-11253, CVE-2019-11254: a small request cannot cause unbounded work or an unbounded response.
 * test/conformance/bad-input.test.ts and src/api/yaml/yaml.test.ts hold the bounds of single bodies; these are ways around them.
 */
import { describe, expect, test } from "vitest";
import { TestApi, text } from "../../api-harness.ts";
import { costOf, custom, defineKind, definitionOf, DEFINITIONS, made } from "./custom-kind.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const PODS = "/api/v1/namespaces/default/pods";
const JSON_PATCH = { type: "application/json-patch+json" };
const STRATEGIC = { type: "application/strategic-merge-patch+json" };
const MERGE = { type: "application/merge-patch+json" };
const APPLY = { type: "application/apply-patch+yaml" };
const YAML = { type: "application/yaml" };
const MIB = 1024 * 1024;
const MOST_MS = 1500;

function repeated<T>(count: number, make: (at: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

function nested(open: string, levels: number, close: string): string {
  return `${open.repeat(levels)}{}${close.repeat(levels)}`;
}

describe("an answer does not grow beyond what was sent", () => {
  test("when each of many items is wrong and told with all the others", async () => {
    await using api = await TestApi.start();
    const scopes = repeated(20_000, (at) => `scope${String(at)}`);

    const { bytes, code } = await api.send("POST", "/api/v1/namespaces/default/resourcequotas", {
      metadata: { name: "q" },
      spec: { scopes },
    });

    expect(code).toBe(422);
    expect(bytes.length).toBeLessThan(4 * MIB);
  });

  test.each<readonly [string, string, object]>([
    [
      "labels",
      MAPS,
      {
        metadata: {
          name: "m",
          labels: Object.fromEntries(repeated(30_000, (at) => [`-${String(at)}`, "-"])),
        },
      },
    ],
    [
      "containers",
      PODS,
      { metadata: { name: "p" }, spec: { containers: repeated(15_000, () => ({ name: "_" })) } },
    ],
    ["finalizers", MAPS, { metadata: { name: "m", finalizers: repeated(30_000, () => "a b") } }],
  ])("when tens of thousands of %s are wrong", async (_what, target, body) => {
    await using api = await TestApi.start();

    let length = 0;
    const { costMs, code } = await costOf(async () => {
      const reply = await api.send("POST", target, body);
      length = reply.bytes.length;
      return reply;
    });

    expect([code, length < 4 * MIB, costMs < MOST_MS]).toEqual([422, true, true]);
  });

  test("when a patch copies what it has copied", async () => {
    await using api = await TestApi.start();
    await made(api.send("POST", MAPS, { metadata: { name: "a" }, data: { k: "x".repeat(10_000) } }));
    const copies = repeated(5000, (at) => ({ op: "copy", from: "/data/k", path: `/data/k${String(at)}` }));

    const { costMs, code } = await costOf(() => api.send("PATCH", `${MAPS}/a`, copies, JSON_PATCH));

    expect([code, costMs < MOST_MS]).toEqual([422, true]);
    expect(api.store.view.get("/registry/configmaps/default/a")?.version).toBe(1);
  });
});

describe("thousands of owners of fields", () => {
  const COUNT = 5000;
  const data = (value: string): object =>
    Object.fromEntries(repeated(COUNT, (at) => [`k${String(at)}`, value]));
  const owners = (operation: string, key: string): unknown =>
    repeated(COUNT, (at) => ({
      manager: `m${String(at)}`,
      operation,
      apiVersion: "v1",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:data": { ".": {}, [`f:${key}${String(at)}`]: {} } },
    }));

  test.each([
    ["Update", "other"],
    ["Apply", "k"],
  ])("by %s of the keys %s… delay nobody, neither when they come nor later", async (operation, key) => {
    await using api = await TestApi.start();
    const metadata = { name: "m", managedFields: owners(operation, key) };
    const change = { apiVersion: "v1", kind: "ConfigMap", data: data("b") };

    const costs = [
      await costOf(() => api.send("POST", MAPS, { metadata, data: data("a") })),
      await costOf(() => api.send("PATCH", `${MAPS}/m`, { data: data("b") }, MERGE)),
      await costOf(() => api.send("PATCH", `${MAPS}/m?fieldManager=x&force=true`, change, APPLY)),
    ];

    expect(costs.map(({ code }) => code)).toEqual([201, 200, 200]);
    expect(costs.filter(({ costMs }) => costMs > MOST_MS)).toEqual([]);
  });

  test("that are nested as deeply as may be are no trouble", async () => {
    await using api = await TestApi.start();
    const fieldsV1: unknown = JSON.parse(nested('{"f:a":', 480, "}"));
    const managedFields = [
      { manager: "d", operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1 },
    ];
    await made(api.send("POST", MAPS, { metadata: { name: "m", managedFields } }));

    await made(api.send("PATCH", `${MAPS}/m`, { data: { a: "b" } }, MERGE));

    await made(api.send("GET", `${MAPS}/m`, undefined, { accept: "application/yaml" }));
  });
});

describe("thousands of items of a list", () => {
  const COUNT = 4000;
  const env = (value: string): readonly object[] =>
    repeated(COUNT, (at) => ({ name: `e${String(at)}`, value }));
  const pod = (value: string): object => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: { containers: [{ name: "a", image: "b", env: env(value) }] },
  });

  test("are patched in an order of their own, moved, deleted and applied in good time", async () => {
    await using api = await TestApi.start();
    await made(api.send("POST", PODS, pod("a")));
    const target = `${PODS}/p?dryRun=All&fieldManager=x`;
    const containers = (fields: object): object => ({ spec: { containers: [{ name: "a", ...fields }] } });
    const order = env("").toReversed();
    const moves = repeated(4000, () => ({
      op: "move",
      from: "/spec/containers/0/env/0",
      path: "/spec/containers/0/env/-",
    }));

    const costs = [
      await costOf(() =>
        api.send(
          "PATCH",
          target,
          containers({ "$setElementOrder/env": order, env: env("b").toReversed() }),
          STRATEGIC,
        ),
      ),
      await costOf(() =>
        api.send(
          "PATCH",
          target,
          containers({ env: repeated(COUNT, (at) => ({ name: `e${String(at)}`, $patch: "delete" })) }),
          STRATEGIC,
        ),
      ),
      await costOf(() => api.send("PATCH", target, moves, JSON_PATCH)),
      await costOf(() => api.send("PATCH", `${target}&force=true`, pod("b"), APPLY)),
    ];

    expect(costs.filter(({ code, costMs }) => costMs > MOST_MS || code >= 500)).toEqual([]);
  });
});

describe("a role that names hundreds of everything", () => {
  const RBAC = "/apis/rbac.authorization.k8s.io/v1";
  const names = (prefix: string, count: number): readonly string[] =>
    repeated(count, (at) => `${prefix}${String(at)}`);

  test("is refused at once to a user without its rights, and created by a user with them", async () => {
    await using api = await TestApi.start();
    const wide = { apiGroups: names("g", 200), resources: names("r", 200), verbs: names("v", 200) };
    const held = names("h", 2000).map((group) => ({ apiGroups: [group], resources: ["*"], verbs: ["*"] }));
    const manages = { apiGroups: ["rbac.authorization.k8s.io"], resources: ["*"], verbs: ["create"] };
    const long = { apiGroups: ["h"], resources: names("r", 10_000), verbs: ["get"] };
    await made(
      api.send("POST", `${RBAC}/clusterroles`, { metadata: { name: "r" }, rules: [manages, long, ...held] }),
    );
    await made(
      api.send("POST", `${RBAC}/clusterrolebindings`, {
        metadata: { name: "r" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "r" },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "bob" }],
      }),
    );
    const create = (rule: object): ReturnType<typeof costOf> =>
      costOf(() =>
        api.send(
          "POST",
          `${RBAC}/clusterroles`,
          { metadata: { generateName: "x-" }, rules: [rule] },
          { as: { user: "bob", groups: [] } },
        ),
      );

    const costs = [await create(wide), await create(long)];

    expect(costs.map(({ code }) => code)).toEqual([403, 201]);
    expect(costs.filter(({ costMs }) => costMs > MOST_MS)).toEqual([]);
  });
});

describe("a review about an excessive number of rules", () => {
  const ACCESS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const texts = (count: number, letter: string): readonly string[] =>
    repeated(count, (at) => `${letter}${String(at).padStart(5, "0")}`);

  test("of audiences, of a token for as many, costs what it is long", async () => {
    await using api = await TestApi.start();
    const accounts = "/api/v1/namespaces/default/serviceaccounts";
    await made(api.send("POST", accounts, { metadata: { name: "robot" } }));
    const spec = { audiences: texts(10_000, "a") };
    const { body } = await made(api.send("POST", `${accounts}/robot/token`, { spec }));
    const review = { spec: { token: text(body["status"]?.["token"]), audiences: texts(95_000, "b") } };
    const { costMs, code } = await costOf(() =>
      api.send("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review),
    );

    expect([code, costMs < MOST_MS / 3]).toEqual([201, true]);
  });

  test.each(["labelSelector", "fieldSelector"])("of a %s without end is not looked at", async (field) => {
    await using api = await TestApi.start();
    const rawSelector = texts(350_000, "k")
      .map((key) => `${key}=a`)
      .join(",")
      .slice(0, 2_900_000);
    const spec = { resourceAttributes: { verb: "list", resource: "pods", [field]: { rawSelector } } };

    const { costMs, code } = await costOf(() => api.send("POST", ACCESS, { spec }));

    expect([code, costMs < MOST_MS / 10]).toEqual([201, true]);
  });
});

describe("expressions and schemas that are deep or long", () => {
  test.each<readonly [string, string]>([
    ["parentheses", `${"(".repeat(40_000)}true${")".repeat(40_000)}`],
    ["negations", `${"!".repeat(90_000)}true`],
    ["signs", `${"-".repeat(50_000)}1 > 0`],
    ["members", `self${".a".repeat(40_000)} == 1`],
    ["indices", `self${"[0]".repeat(30_000)} == 1`],
    ["sums", `1${"+1".repeat(40_000)} > 0`],
    ["choices", `${"true ? true : ".repeat(7000)}true`],
    ["lists", `${"[".repeat(40_000)}${"]".repeat(40_000)} == []`],
    ["maps", `${"{'a':".repeat(15_000)}1${"}".repeat(15_000)} == {}`],
    ["loops", `${"[1].all(x, ".repeat(6000)}true${")".repeat(6000)}`],
    ["comments", `${"//\t//".repeat(15_000)}\n\u0000true`],
    ["escapes", `'${"\\".repeat(50_001)}' == ''`],
    ["digits", `${"1".repeat(90_000)} > 0`],
  ])("of %s are refused or compiled at once", async (_what, rule) => {
    await using api = await TestApi.start();
    const schema = {
      type: "object",
      properties: { a: { type: "integer" } },
      "x-kubernetes-validations": [{ rule }],
    };

    const { costMs, code } = await costOf(() =>
      api.send("POST", DEFINITIONS, definitionOf({ plural: "w", schema })),
    );

    expect([code === 201 || code === 422, costMs < MOST_MS]).toEqual([true, true]);
  });

  test("as a schema within a schema are served as far as bodies go", async () => {
    await using api = await TestApi.start();
    const schema: unknown = JSON.parse(
      nested('{"type":"object","properties":{"a":', 235, "}}").replace("{}", '{"type":"string"}'),
    );
    await defineKind(api, { plural: "deep", schema });
    const object = JSON.parse(`${'{"a":'.repeat(235)}"x"${"}".repeat(235)}`) as object;

    await made(api.send("POST", "/apis/example.com/v1/namespaces/default/deep", custom("deep", "d", object)));

    expect((await api.send("GET", "/openapi/v2")).code).toBe(200);
    expect((await api.send("GET", "/openapi/v3/apis/example.com/v1")).code).toBe(200);
  });

  test.each<readonly [string, string]>([
    ["a patch", `{"data":${nested('{"a":', 600, "}")}}`],
    ["delete options", `{"preconditions":${nested('{"a":', 600, "}")}}`],
  ])("are refused as %s", async (what, body) => {
    await using api = await TestApi.start();
    await made(api.send("POST", MAPS, { metadata: { name: "a" } }));

    const isPatch = what === "a patch";
    const reply = await api.send(
      isPatch ? "PATCH" : "DELETE",
      `${MAPS}/a`,
      Buffer.from(body),
      isPatch ? MERGE : {},
    );

    expect([reply.code, text(reply.body["message"])]).toEqual([
      400,
      expect.stringContaining("nested deeper than") as unknown,
    ]);
  });
});

describe("YAML that is hard to read", () => {
  const SIZE = 500_000;

  test.each<readonly [string, string]>([
    ["anchors", repeated(SIZE / 10, (at) => `&a${String(at)} x`).join("\n")],
    ["tags", `${"!!map ".repeat(SIZE / 6)}{}`],
    ["an ordered map", `!!omap\n${"- a: 1\n".repeat(SIZE / 7)}`],
    [
      "merges of merges",
      `a: &a {b: 1}\n${repeated(SIZE / 20, (at) => `k${String(at)}: {<<: *a}`).join("\n")}`,
    ],
    ["blank lines in a text", `a: "${"\n\n x".repeat(SIZE / 4)}"`],
    ["a folded text", `a: >\n${" x\n\n".repeat(SIZE / 4)}`],
    ["questions", `${"? ".repeat(SIZE / 2)}`],
    ["colons", `a${":".repeat(SIZE)}`],
    ["documents", "---\n".repeat(SIZE / 4)],
    ["flow keys", `{${"a: {".repeat(SIZE / 4)}`],
    ["escapes", `a: "${"\\x41".repeat(SIZE / 4)}"`],
  ])("by %s is refused or read in good time", async (_what, body) => {
    await using api = await TestApi.start();

    for (const [method, target, options] of [
      ["POST", MAPS, YAML],
      ["PATCH", `${MAPS}/a?fieldManager=x`, APPLY],
    ] as const) {
      const { costMs, code } = await costOf(() => api.send(method, target, Buffer.from(body), options));
      expect([method, code >= 400 && code < 500, costMs < MOST_MS]).toEqual([method, true, true]);
    }
  });
});
