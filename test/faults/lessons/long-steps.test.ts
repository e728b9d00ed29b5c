/**
 * No request holds the loop longer than 100 ms: the largest objects, by every way of writing and every form of response, and bodies that
 * are not stored. step-time.ts and long-lists.test.ts explain the measurement.
 */
import { describe, expect, test } from "vitest";
import { TestApi } from "../../api-harness.ts";
import type { Reply, RequestOptions } from "../../api-harness.ts";
import { custom, defineKind } from "./custom-kind.ts";
import { fastestOf } from "./step-time.ts";

/** Twice the promised time: tests share their machines. */
const LONGEST_MS = 200;
const JSON_PATCH = { type: "application/json-patch+json" };
const STRATEGIC = { type: "application/strategic-merge-patch+json" };
const MERGE = { type: "application/merge-patch+json" };
const APPLY = { type: "application/apply-patch+yaml" };
const YAML = { accept: "application/yaml" };
const PROTOBUF = { accept: "application/vnd.kubernetes.protobuf" };
const TABLE = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };

function repeated<T>(count: number, make: (at: number) => T): readonly T[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

function entries(count: number, value: unknown): object {
  return Object.fromEntries(repeated(count, (at) => [`a${String(at)}`, value]));
}

function pod(name: string, containers: readonly object[]): Shape {
  return [
    "/api/v1/namespaces/default/pods",
    { apiVersion: "v1", kind: "Pod", metadata: { name }, spec: { containers } },
  ];
}

type Shape = readonly [
  collection: string,
  object: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly labels?: object };
    readonly [field: string]: unknown;
  },
];
const MAPS = "/api/v1/namespaces/default/configmaps";
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

function endpoint(at: number): object {
  const ip = `10.0.${String(at >> 8)}.${String(at & 255)}`;
  const targetRef = {
    kind: "Pod",
    namespace: "default",
    name: `web-${String(at)}`,
    uid: `uid-${String(at)}`,
  };
  return {
    addresses: [ip],
    conditions: { ready: true },
    nodeName: `node-${String(at)}`,
    targetRef,
    zone: "a",
  };
}

const SHAPES: readonly (readonly [string, Shape])[] = [
  [
    "32,000 labels",
    [
      MAPS,
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "a", labels: entries(32_000, "") },
      },
    ],
  ],
  [
    "32,000 keys",
    [
      MAPS,
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "b" },
        data: entries(32_000, "v"),
      },
    ],
  ],
  [
    "1,000 endpoints",
    [
      SLICES,
      {
        apiVersion: "discovery.k8s.io/v1",
        kind: "EndpointSlice",
        metadata: { name: "c" },
        addressType: "IPv4",
        ports: [{ name: "http", port: 80 }],
        endpoints: repeated(1000, endpoint),
      },
    ],
  ],
  [
    "4,000 containers",
    pod(
      "d",
      repeated(4000, (at) => ({ name: `c${String(at)}`, image: "web" })),
    ),
  ],
  [
    "16,000 variables",
    pod("e", [
      { name: "c", image: "web", env: repeated(16_000, (at) => ({ name: `E${String(at)}`, value: "v" })) },
    ]),
  ],
  ["150,000 arguments", pod("f", [{ name: "c", image: "web", args: repeated(150_000, () => "a") }])],
];

describe("an object as large as may be", () => {
  test.each(SHAPES)(
    "of %s is written, changed and shown without a long step",
    async (_what, [collection, object]) => {
      await using api = await TestApi.start();
      const one = `${collection}/${object.metadata.name}`;
      const change = { metadata: { annotations: { changed: "yes" } } };
      const { apiVersion, kind } = object;
      const stated = { apiVersion, kind, metadata: { name: object.metadata.name } };
      const applied = `${one}?fieldManager=x&force=true`;
      const steps: readonly (readonly [string, string, unknown, RequestOptions])[] = [
        ["POST", collection, object, {}],
        ["GET", one, undefined, YAML],
        ["GET", one, undefined, PROTOBUF],
        ["GET", `${one}?pretty=true`, undefined, {}],
        ["GET", collection, undefined, TABLE],
        ["GET", collection, undefined, YAML],
        ["PUT", one, { ...object, metadata: { ...object.metadata, ...change.metadata } }, {}],
        ["PATCH", one, change, MERGE],
        ["PATCH", one, object, STRATEGIC],
        ["PATCH", one, [{ op: "add", path: "/metadata/annotations", value: { a: "b" } }], JSON_PATCH],
        ["PATCH", applied, object, APPLY],
        ["PATCH", applied, object, APPLY],
        ["PATCH", applied, stated, APPLY],
        [
          "DELETE",
          `${collection}?dryRun=All&labelSelector=${repeated(2000, (at) => `k${String(at)}`).join(",")}`,
          undefined,
          {},
        ],
        ["DELETE", one, undefined, {}],
      ];
      const slow: unknown[] = [];

      for (const [method, target, body, options] of steps) {
        const send = (): Promise<Reply> => api.send(method, target, body, options);
        const { longestMs, value } = await fastestOf(LONGEST_MS, send, method === "GET" ? 4 : 1);
        if (longestMs > LONGEST_MS || value.code >= 500)
          slow.push([method, target.slice(0, 100), options, value.code, Math.round(longestMs)]);
      }

      expect(slow).toEqual([]);
    },
  );
});

describe("a body that is not stored", () => {
  const texts = repeated(150_000, (at) => `t${String(at)}`);
  const resourceAttributes = { verb: "list", resource: "pods" };
  const requirements = repeated(14_000, (at) => ({ key: `k${String(at)}`, operator: "In", values: ["a"] }));

  test.each<readonly [string, string, object]>([
    ["audiences", "authentication.k8s.io/v1/tokenreviews", { spec: { token: "a.b.c", audiences: texts } }],
    [
      "groups",
      "authorization.k8s.io/v1/subjectaccessreviews",
      { spec: { user: "a", groups: texts, resourceAttributes } },
    ],
    [
      "requirements",
      "authorization.k8s.io/v1/subjectaccessreviews",
      { spec: { user: "a", resourceAttributes: { ...resourceAttributes, labelSelector: { requirements } } } },
    ],
  ])("of many %s is answered without a long step", async (_what, resource, body) => {
    await using api = await TestApi.start();

    const { longestMs, value } = await fastestOf(LONGEST_MS, () =>
      api.send("POST", `/apis/${resource}`, body),
    );

    expect([value.code, longestMs <= LONGEST_MS]).toEqual([201, true]);
  });
});

describe("an object of a custom kind", () => {
  const list = (items: object, more: object = {}): object => ({ type: "array", items, ...more });
  const choices = repeated(2000, (at) => `e${String(at)}`);
  const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const properties = {
    enumerated: list({ type: "string", enum: choices }),
    branched: list({ ...open, oneOf: repeated(200, (at) => ({ required: [`a${String(at)}`] })) }),
    defaulted: list({
      type: "object",
      properties: { a: list({ type: "integer" }, { default: repeated(1000, (at) => at) }) },
    }),
    set: list({ type: "string" }, { "x-kubernetes-list-type": "set" }),
    free: open,
  };
  const schema = { type: "object", properties: { spec: { type: "object", properties } } };

  test.each<readonly [string, object, number]>([
    ["texts of a long enumeration", { enumerated: repeated(100_000, () => "e1999") }, 201],
    ["items with many alternatives", { branched: repeated(40_000, () => ({ a7: 1 })) }, 413],
    ["items with large defaults", { defaulted: repeated(60_000, () => ({})) }, 413],
    ["items of a set", { set: repeated(38_000, (at) => `a${String(at)}`) }, 201],
    ["fields that no schema names", { free: entries(48_000, "") }, 201],
  ])("with many %s is taken or refused without a long step", async (_what, spec, code) => {
    await using api = await TestApi.start();
    await defineKind(api, { plural: "w", schema });
    const target = "/apis/example.com/v1/namespaces/default/w?dryRun=All";

    const { longestMs, value } = await fastestOf(LONGEST_MS, () =>
      api.send("POST", target, custom("w", "a", { spec })),
    );

    expect([value.code, longestMs <= LONGEST_MS]).toEqual([code, true]);
  });
});

describe("a body beyond what a request may ask for", () => {
  test.each<readonly [string, string, object]>([
    ["containers", "/api/v1/namespaces/default/pods", { spec: { containers: repeated(90_000, () => ({})) } }],
    ["labels", MAPS, { metadata: { name: "a", labels: entries(90_000, "") } }],
  ])("is refused as too large: %s", async (_what, target, body) => {
    await using api = await TestApi.start();

    const { longestMs, value } = await fastestOf(LONGEST_MS, () => api.send("POST", target, body));

    expect([value.code, value.body["reason"], longestMs <= LONGEST_MS]).toEqual([
      413,
      "RequestEntityTooLarge",
      true,
    ]);
  });
});
