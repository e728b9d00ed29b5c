/**
 * No request holds the loop longer than 100 ms, with every list and map of every kind at a third of the accepted maximum. Fields come from
 * the schema facts, so none is forgotten. A step ends only when the event loop turns, so awaiting hides nothing. Thread processor time and
 * the best of four tries count, so a busy machine does not matter. Items all differ in JSON and are all equal in protobuf, so that
 * comparing each with each shows either way. Lists whose comparison needs objects that are valid as a whole are named one by one.
 */
import { describe, expect, test } from "vitest";
import { encodeObject } from "../../../src/api/protobuf/envelope.ts";
import type { ListSchema, MapSchema, Schema, StructField } from "../../../src/api/schema/schema.ts";
import { unitsOfEntry, unitsOfItem, unitsOfStruct, WORK_MAX } from "../../../src/api/work-budget.ts";
import { TestApi, text } from "../../api-harness.ts";
import { collectionOf, kindSamples, listsAndMaps, placeText, withValue } from "./every-place.ts";
import type { KindSample, Place } from "./every-place.ts";
import { fastestOf } from "./step-time.ts";

const UNITS = WORK_MAX / 3;
const BYTES_MAX = 3 << 20;
/** A third of 100 ms and of the 10 ms after which a request yields, twice: tests share their machines. */
const LONGEST_MS = 85;
const PROTOBUF = { type: "application/vnd.kubernetes.protobuf" };

/** Fields that identify items in most kinds. */
const TELLING = new Set([
  "containerPort",
  "devicePath",
  "ip",
  "key",
  "mountPath",
  "name",
  "path",
  "port",
  "type",
  "uid",
]);

const VALUES: Readonly<Partial<Record<Schema["type"], (at: number) => unknown>>> = {
  string: (at) => `a${String(at)}`,
  int32: (at) => at + 1,
  int64: (at) => at + 1,
  float: (at) => at + 1,
  intOrString: (at) => at + 1,
  boolean: () => true,
  bytes: () => "YQ==",
  quantity: (at) => String(at + 1),
  time: () => "2026-01-01T00:00:00Z",
  microTime: () => "2026-01-01T00:00:00.000000Z",
  list: () => [],
};

function scalar(schema: Schema, at: number): unknown {
  if (schema.type === "string" && schema.enum !== undefined) return schema.enum[at % schema.enum.length];
  return VALUES[schema.type]?.(at) ?? {};
}

function tellingFields(schema: Schema): readonly StructField[] {
  return schema.type === "struct" ? schema.fields.filter(({ name }) => TELLING.has(name)) : [];
}

/** Makes the item or value with a number. */
function maker(schema: Schema): (at: number) => unknown {
  if (schema.type !== "struct") return (at) => scalar(schema, at);
  const fields = tellingFields(schema);
  return (at) => {
    const made: Record<string, unknown> = {};
    for (const field of fields) made[field.name] = scalar(field.schema, at);
    return made;
  };
}

function unitsEach(schema: ListSchema | MapSchema): number {
  const inner = schema.type === "map" ? schema.values : schema.items;
  const own = schema.type === "map" ? unitsOfEntry(schema) : unitsOfItem(schema);
  // Each field is a name and a value in JSON.
  const tokens = 2 * tellingFields(inner).length;
  return own + (inner.type === "struct" ? unitsOfStruct(inner) + tokens : 1);
}

interface Filling {
  readonly items: "different" | "same";
  readonly units: number;
}

function filled(schema: ListSchema | MapSchema, { items, units }: Filling): unknown {
  const length = Math.floor(units / unitsEach(schema));
  const make = maker(schema.type === "list" ? schema.items : schema.values);
  const valueAt = (at: number): unknown => make(items === "same" ? 7 : at);
  if (schema.type === "list") return Array.from({ length }, (_, at) => valueAt(at));
  return Object.fromEntries(Array.from({ length }, (_, at) => [`a${String(at)}`, valueAt(at)]));
}

interface LongRequest {
  readonly name: string;
  readonly target: string;
  readonly bytes: Buffer;
  readonly options: object;
}

function requestsOf(sample: KindSample, place: Place<ListSchema | MapSchema>): readonly LongRequest[] {
  const object = (items: Filling["items"]): object =>
    withValue(sample.object, place.steps, filled(place.schema, { items, units: UNITS })) as object;
  const name = `${sample.facts.kind} ${placeText(place)}`;
  const target = `${collectionOf(sample.facts)}?dryRun=All`;
  const message = encodeObject(sample.schema, object("same") as Readonly<Record<string, unknown>>);
  return [
    { name, target, bytes: Buffer.from(JSON.stringify(object("different"))), options: {} },
    { name: `${name} in protobuf`, target, bytes: Buffer.from(message), options: PROTOBUF },
  ].filter(({ bytes }) => bytes.length <= BYTES_MAX);
}

function* everyField(): Generator<LongRequest> {
  const seen = new Set<string>();
  for (const sample of kindSamples()) {
    for (const place of listsAndMaps({ steps: [], schema: sample.schema }, seen))
      yield* requestsOf(sample, place);
  }
}

/** Every kind with all its lists and maps filled. */
function* everyKind(): Generator<LongRequest> {
  for (const { facts, schema, object } of kindSamples()) {
    const places = [...listsAndMaps({ steps: [], schema }, new Set())];
    const filling = { items: "different", units: UNITS / places.length } as const;
    let crowded: unknown = object;
    for (const place of places) crowded = withValue(crowded, place.steps, filled(place.schema, filling));
    const bytes = Buffer.from(JSON.stringify(crowded));
    yield { name: facts.kind, target: `${collectionOf(facts)}?dryRun=All`, bytes, options: {} };
  }
}

async function startApi(): Promise<TestApi> {
  const api = await TestApi.start();
  const cidr = { metadata: { name: "kubernetes" }, spec: { cidrs: ["10.96.0.0/12"] } };
  await api.send("POST", "/apis/networking.k8s.io/v1/servicecidrs", cidr);
  return api;
}

test.each<readonly [string, () => Iterable<LongRequest>, number]>([
  ["no list and no map of any kind", everyField, 600],
  ["no object whose lists and maps are all filled", everyKind, 50],
])("%s holds the loop for long", { timeout: 600_000 }, async (_what, requests, atLeast) => {
  await using api = await startApi();
  const slow: unknown[] = [];
  let count = 0;

  for (const { name, target, bytes, options } of requests()) {
    const send = (): ReturnType<TestApi["send"]> => api.send("POST", target, bytes, options);
    const { longestMs, value } = await fastestOf(LONGEST_MS, send);
    if (longestMs > LONGEST_MS || value.code >= 500) slow.push([name, value.code, Math.round(longestMs)]);
    count += 1;
  }

  expect(slow).toEqual([]);
  expect(count).toBeGreaterThan(atLeast);
});

describe("lists that are compared with each other", () => {
  const repeated = <T>(count: number, make: (at: number) => T): readonly T[] =>
    Array.from({ length: count }, (_, at) => make(at));
  const podOf = (spec: object, annotations: object = {}): object => ({
    metadata: { name: "p", annotations },
    spec,
  });
  const keys = (prefix: string): readonly string[] => repeated(20_000, (at) => `${prefix}${String(at)}`);
  const PODS = "/api/v1/namespaces/default/pods";
  const claimed = { claims: repeated(20_000, (at) => ({ name: "c", request: `r${String(at)}` })) };
  const term = {
    topologyKey: "zone",
    labelSelector: { matchLabels: { a: "b" } },
    matchLabelKeys: keys("m"),
    mismatchLabelKeys: keys("n"),
  };
  const profile = (at: number): readonly [string, string] => [
    `container.apparmor.security.beta.kubernetes.io/c${String(at)}`,
    "unconfined",
  ];

  test.each<readonly [string, string, object]>([
    [
      "addresses and ports",
      "/api/v1/namespaces/default/endpoints",
      {
        metadata: { name: "e" },
        subsets: [
          {
            addresses: repeated(8000, (at) => ({ ip: `10.1.${String(at >> 8)}.${String(at & 255)}` })),
            ports: repeated(8000, (at) => ({ name: `p${String(at)}`, port: at + 1 })),
          },
        ],
      },
    ],
    [
      "requests of a claim",
      PODS,
      podOf({
        containers: [{ name: "a", image: "b", resources: claimed }],
        resourceClaims: [{ name: "c", resourceClaimName: "c" }],
      }),
    ],
    [
      "keys that match and keys that do not",
      PODS,
      podOf({
        containers: [{ name: "a", image: "b" }],
        affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
      }),
    ],
    [
      "profiles and containers",
      PODS,
      podOf(
        { containers: repeated(3000, (at) => ({ name: `c${String(at)}`, image: "b" })) },
        Object.fromEntries(repeated(3000, profile)),
      ),
    ],
    [
      "equal ports",
      PODS,
      podOf({
        containers: [{ name: "a", image: "b", ports: repeated(10_000, () => ({ containerPort: 80 })) }],
      }),
    ],
  ])("%s are taken without a long step", async (_what, target, body) => {
    await using api = await startApi();

    const send = (): ReturnType<TestApi["send"]> => api.send("POST", `${target}?dryRun=All`, body);
    const { longestMs, value } = await fastestOf(LONGEST_MS, send);

    expect([value.code, longestMs <= LONGEST_MS, text(value.body["message"])]).toEqual([201, true, ""]);
  });
});
