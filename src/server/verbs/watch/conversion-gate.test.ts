import { expect, test } from "vitest";
import type { Entry } from "../../../store/store.ts";
import { ConversionGate } from "./conversion-gate.ts";
import type { WatchedEntries, WatchItem } from "./watched-entries.ts";

const ENTRY: Entry = {
  key: "/registry/gauges/a",
  value: Buffer.from('{"metadata":{"name":"a"}}'),
  createRevision: 1,
  modRevision: 1,
  version: 1,
  ordinal: 0,
  expiresAt: undefined,
  slot: undefined,
};

const CHANGE: WatchItem = {
  type: "changes",
  events: [{ revision: 5, ordinal: 0, key: ENTRY.key, before: undefined, after: ENTRY }],
};

/** Returns the items in order. Each item moves the revision on by one. */
class Items implements WatchedEntries {
  revision = 4;
  readonly #items: WatchItem[];

  constructor(...items: readonly WatchItem[]) {
    this.#items = [...items];
  }

  take(): WatchItem | undefined {
    const item = this.#items.shift();
    if (item !== undefined) this.revision += 1;
    return item;
  }
}

/** A webhook that answers each request when the test says so. */
class Webhook {
  readonly requests: { readonly succeed: () => void; readonly fail: (error: Error) => void }[] = [];
  isConverted = false;
  answers = 0;

  gate(source: WatchedEntries): ConversionGate {
    const convert = (): Promise<void> | undefined =>
      this.isConverted
        ? undefined
        : new Promise((succeed, fail) => {
            this.requests.push({ succeed, fail });
          });
    return new ConversionGate(source, convert, () => {
      this.answers += 1;
    });
  }
}

test("converted entries pass the gate at once", () => {
  const webhook = new Webhook();
  webhook.isConverted = true;
  const gate = webhook.gate(new Items(CHANGE));

  expect([gate.take(), gate.take()]).toEqual([CHANGE, undefined]);
});

test("entries wait for the webhook, and for no second request meanwhile", async () => {
  const webhook = new Webhook();
  const gate = webhook.gate(new Items(CHANGE));

  expect([gate.take(), gate.take()]).toEqual([undefined, undefined]);
  webhook.isConverted = true;
  webhook.requests[0]?.succeed();
  await expect.poll(() => webhook.answers).toBe(1);

  expect(webhook.requests).toHaveLength(1);
  expect(gate.take()).toBe(CHANGE);
});

test("a conversion that was evicted before its use is requested again", async () => {
  const webhook = new Webhook();
  const gate = webhook.gate(new Items(CHANGE));

  gate.take();
  webhook.requests[0]?.succeed();
  await expect.poll(() => webhook.answers).toBe(1);

  expect(gate.take()).toBeUndefined();
  expect(webhook.requests).toHaveLength(2);
});

test("a failure of the webhook fails the next read", async () => {
  const webhook = new Webhook();
  const gate = webhook.gate(new Items(CHANGE));

  gate.take();
  webhook.requests[0]?.fail(new Error("no answer"));
  await expect.poll(() => webhook.answers).toBe(1);

  expect(() => gate.take()).toThrow("no answer");
});

test("the revision does not count changes that wait for the webhook", async () => {
  const webhook = new Webhook();
  const gate = webhook.gate(new Items(CHANGE));

  gate.take();
  expect(gate.revision).toBe(4);
  webhook.isConverted = true;
  webhook.requests[0]?.succeed();
  await expect.poll(() => webhook.answers).toBe(1);
  expect(gate.revision).toBe(4);
  gate.take();

  expect(gate.revision).toBe(5);
});
