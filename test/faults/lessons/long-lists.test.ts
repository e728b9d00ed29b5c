/**
 * No request holds the loop longer than 100 ms: every list and every map of every kind, at a third of the longest that is taken.
 *
 * It cannot be fooled by a field that was forgotten, because fields come from the schema facts; nor by awaiting, because a step ends only when
 * the event loop turns; nor by a machine that is busy, because processor time of one thread counts, and the best of four tries. Items are once
 * all different and once all the same, in JSON and in protobuf, so that a pass that compares each with each is met whichever it looks for: at
 * this length it takes three times what is allowed before it would take a second at the full length.
 */
import { expect, test } from "vitest";
import { encodeObject } from "../../../src/api/protobuf/envelope.ts";
import type { ListSchema, MapSchema, Schema, StructField } from "../../../src/api/schema.ts";
import { unitsOfEntry, unitsOfItem, unitsOfStruct, WORK_MAX } from "../../../src/api/work-budget.ts";
import { TestApi } from "../../api-harness.ts";
import {
  collectionOf,
  type KindSample,
  kindSamples,
  listsAndMaps,
  placeText,
  withValue,
} from "./every-place.ts";
import type { Place } from "./every-place.ts";
import { fastestOf } from "./step-time.ts";

const UNITS = WORK_MAX / 3;
const BYTES_MAX = 3 << 20;
/** A third of 100 ms and the 10 ms after which a request rests, twice: tests share their machines. */
const LONGEST_MS = 85;
const PROTOBUF = { type: "application/vnd.kubernetes.protobuf" };

/** What items are told apart by, in most kinds. */
const TELLING = new Set([
  "name",
  "key",
  "type",
  "port",
  "containerPort",
  "ip",
  "uid",
  "path",
  "mountPath",
  "devicePath",
]);

function scalar(schema: Schema, at: number): unknown {
  switch (schema.type) {
    case "string":
      return schema.enum?.[at % schema.enum.length] ?? `a${String(at)}`;
    case "int32":
    case "int64":
    case "float":
    case "intOrString":
      return at + 1;
    case "boolean":
      return true;
    case "bytes":
      return "YQ==";
    case "quantity":
      return String(at + 1);
    case "time":
      return "2026-01-01T00:00:00Z";
    case "microTime":
      return "2026-01-01T00:00:00.000000Z";
    case "list":
      return [];
    default:
      return {};
  }
}

function tellingFields(schema: Schema): readonly StructField[] {
  return schema.type === "struct" ? schema.fields.filter(({ name }) => TELLING.has(name)) : [];
}

function item(schema: Schema, at: number): unknown {
  if (schema.type !== "struct") return scalar(schema, at);
  return Object.fromEntries(tellingFields(schema).map((field) => [field.name, scalar(field.schema, at)]));
}

function unitsEach(schema: ListSchema | MapSchema): number {
  const inner = schema.type === "map" ? schema.values : schema.items;
  const own = schema.type === "map" ? unitsOfEntry(schema) : unitsOfItem(schema);
  // Each field is a name and a value in JSON.
  const tokens = 2 * tellingFields(inner).length;
  return own + (inner.type === "struct" ? unitsOfStruct(inner) + tokens : 1);
}

function filled(schema: ListSchema | MapSchema, kind: "different" | "same", units = UNITS): unknown {
  const count = Math.floor(units / unitsEach(schema));
  const numbers = Array.from({ length: count }, (_, at) => at);
  const numberOf = (at: number): number => (kind === "same" ? 7 : at);
  if (schema.type === "list") return numbers.map((at) => item(schema.items, numberOf(at)));
  return Object.fromEntries(numbers.map((at) => [`a${String(at)}`, item(schema.values, numberOf(at))]));
}

function bodiesOf(
  sample: KindSample,
  place: Place<ListSchema | MapSchema>,
): readonly (readonly [Buffer, object])[] {
  const object = (kind: "different" | "same"): unknown =>
    withValue(sample.object, place.steps, filled(place.schema, kind));
  const json = Buffer.from(JSON.stringify(object("different")));
  const message = encodeObject(sample.schema, object("same") as Readonly<Record<string, unknown>>);
  const bodies = [
    [json, {}],
    [Buffer.from(message), PROTOBUF],
  ] as const;
  return bodies.filter(([bytes]) => bytes.length <= BYTES_MAX);
}

async function startApi(): Promise<TestApi> {
  const api = await TestApi.start();
  const cidr = { metadata: { name: "kubernetes" }, spec: { cidrs: ["10.96.0.0/12"] } };
  await api.send("POST", "/apis/networking.k8s.io/v1/servicecidrs", cidr);
  return api;
}

test(
  "no list and no map of any kind, however long, holds the loop for long",
  { timeout: 600_000 },
  async () => {
    await using api = await startApi();
    const seen = new Set<string>();
    const slow: unknown[] = [];
    let count = 0;

    for (const sample of kindSamples()) {
      const target = `${collectionOf(sample.facts)}?dryRun=All`;
      for (const place of listsAndMaps({ steps: [], schema: sample.schema }, seen)) {
        for (const [bytes, options] of bodiesOf(sample, place)) {
          const send = (): ReturnType<TestApi["send"]> => api.send("POST", target, bytes, options);
          const { longestMs, value } = await fastestOf(LONGEST_MS, send);
          if (longestMs > LONGEST_MS || value.code >= 500)
            slow.push([sample.facts.kind, placeText(place), options, value.code, Math.round(longestMs)]);
          count += 1;
        }
      }
    }

    expect(slow).toEqual([]);
    expect(count).toBeGreaterThan(600);
  },
);

test("an object with all its lists and maps filled, which may be compared with each other, does not either", async () => {
  await using api = await startApi();
  const slow: unknown[] = [];

  for (const { facts, schema, object } of kindSamples()) {
    const places = [...listsAndMaps({ steps: [], schema }, new Set())];
    const crowded = places.reduce<unknown>(
      (body, place) => withValue(body, place.steps, filled(place.schema, "different", UNITS / places.length)),
      object,
    );
    const body = Buffer.from(JSON.stringify(crowded));
    const target = `${collectionOf(facts)}?dryRun=All`;
    const { longestMs, value } = await fastestOf(LONGEST_MS, () => api.send("POST", target, body));
    if (longestMs > LONGEST_MS || value.code >= 500)
      slow.push([facts.kind, value.code, Math.round(longestMs)]);
  }

  expect(slow).toEqual([]);
});

test("addresses and ports of endpoints are not multiplied with each other", async () => {
  await using api = await startApi();
  const numbers = Array.from({ length: 8000 }, (_, at) => at);
  const addresses = numbers.map((at) => ({ ip: `10.1.${String(at >> 8)}.${String(at & 255)}` }));
  const ports = numbers.map((at) => ({ name: `p${String(at)}`, port: at + 1 }));
  const body = { metadata: { name: "e" }, subsets: [{ addresses, ports }] };

  const { longestMs, value } = await fastestOf(LONGEST_MS, () =>
    api.send("POST", "/api/v1/namespaces/default/endpoints?dryRun=All", body),
  );

  expect([value.code, longestMs <= LONGEST_MS]).toEqual([201, true]);
});

test("ports that are there ten thousand times are warned of, as often as an answer has room", async () => {
  await using api = await startApi();
  const ports = Array.from({ length: 10_000 }, () => ({ containerPort: 80 }));
  const body = { metadata: { name: "p" }, spec: { containers: [{ name: "a", image: "b", ports }] } };

  const { longestMs, value } = await fastestOf(LONGEST_MS, () =>
    api.send("POST", "/api/v1/namespaces/default/pods?dryRun=All", body),
  );

  expect([value.code, longestMs <= LONGEST_MS]).toEqual([201, true]);
  expect(value.headers.get("warning")).toContain("spec.containers[0].ports[1]: duplicate port definition");
});
