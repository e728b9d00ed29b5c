import { expect, test } from "vitest";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { createMetrics } from "../../base/metrics/prom-metrics.ts";
import { kinds } from "../../resources/index.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import { openMemoryStore } from "../../store/memory-store.ts";
import { Registry, requireStored } from "../objects/registry.ts";
import { keyOf, Versions } from "../objects/versions.ts";
import { UNPACED } from "../request/pace.ts";
import { RequestCounts } from "../request/request-counts.ts";
import { Journal, SERVER_AUTHOR } from "./journal.ts";
import { ObjectWriter } from "./object-writer.ts";
import type { Place } from "./object-writer.ts";

const RETRY = { isDryRun: false, onConflict: "retry" } as const;

interface Counter extends ApiObject {
  readonly data: { readonly count: string };
}

interface CounterFixture {
  readonly writer: ObjectWriter;
  readonly place: Place;
  readonly count: () => string;
}

/** A stored ConfigMap with a count of 0. */
async function openCounterFixture(): Promise<CounterFixture> {
  const loop = createRealLoop({ name: "test" });
  const store = openMemoryStore({ loop: loop.child("store") });
  const versions = new Versions(new Map());
  const parts = {
    loop,
    store,
    versions,
    companions: [],
    journal: new Journal(),
    tally: new RequestCounts(createMetrics()),
  };
  const writer = new ObjectWriter(parts, { author: SERVER_AUTHOR, writer: "client", pace: UNPACED });
  const resource = requireStored(new Registry(kinds), "", "configmaps");
  const place = { resource, namespace: "default", name: "counter" };
  const metadata = { name: "counter", namespace: "default", uid: "u" };
  const first = { apiVersion: "v1", kind: "ConfigMap", data: { count: "0" }, metadata };
  await writer.create(place, first, { isDryRun: false });
  const count = (): string => {
    const entry = store.acceptedNow.get(keyOf(resource, "default", "counter"));
    return entry === undefined ? "" : (versions.entry(entry, resource) as Counter).data.count;
  };
  return { writer, place, count };
}

function incremented(previous: ApiObject): ApiObject {
  const { count } = (previous as Counter).data;
  return { ...previous, data: { count: String(Number(count) + 1) } } as ApiObject;
}

test("updates of one object compute their changes one after the other, each once", async () => {
  const { writer, place, count } = await openCounterFixture();
  let calls = 0;
  const change = async (previous: ApiObject): Promise<{ outcome: "put"; object: ApiObject }> => {
    calls += 1;
    await Promise.resolve();
    return { outcome: "put", object: incremented(previous) };
  };

  await Promise.all(Array.from({ length: 50 }, () => writer.update(place, RETRY, change)));

  expect([count(), calls]).toEqual(["50", 50]);
});

test("an update that waits for a webhook stops no other update, and then starts anew", async () => {
  const { writer, place, count } = await openCounterFixture();
  let answer = (): void => undefined;
  const webhook = new Promise<void>((resolve) => (answer = resolve));
  const seen: string[] = [];
  const slow = writer.update(place, { ...RETRY, mayWait: () => true }, async (previous) => {
    seen.push((previous as Counter).data.count);
    await webhook;
    return { outcome: "put", object: incremented(previous) };
  });

  await writer.update(place, RETRY, (previous) => ({ outcome: "put", object: incremented(previous) }));
  answer();
  await slow;

  expect([count(), seen]).toEqual(["2", ["0", "1"]]);
});

test("updates that wait for webhooks at the same time lose no change", async () => {
  const { writer, place, count } = await openCounterFixture();
  const options = { ...RETRY, mayWait: () => true };

  const updates = [1, 2, 3].map(() =>
    writer.update(place, options, async (previous) => {
      await Promise.resolve();
      return { outcome: "put", object: incremented(previous) };
    }),
  );

  await Promise.all(updates);
  expect(count()).toBe("3");
});

test("an update whose change fails lets the next one run", async () => {
  const { writer, place, count } = await openCounterFixture();

  const failed = writer.update(place, RETRY, () => Promise.reject(new Error("no")));
  const next = writer.update(place, RETRY, (previous) => ({ outcome: "put", object: incremented(previous) }));

  await expect(failed).rejects.toThrow("no");
  await next;
  expect(count()).toBe("1");
});
