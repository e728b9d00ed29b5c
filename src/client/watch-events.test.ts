import { describe, expect, test } from "vitest";
import { ConfigMap } from "../api/generated/types/core-v1.ts";
import { VirtualLoop } from "../base/loop/virtual/virtual-loop.ts";
import { createClient } from "./api-client.ts";
import { endableSignal } from "./call-signal.ts";
import { scripted, settled } from "./fixture.ts";
import { OwnedStream } from "./owned-stream.ts";
import type { TransportEvent } from "./transport.ts";

const OBJECT = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };

async function watched(
  batches: readonly (readonly TransportEvent[])[],
): Promise<{ seen: unknown[]; error: unknown }> {
  const loop = new VirtualLoop({ seed: 1 });
  const client = createClient(scripted([{}], batches), { loop });
  const seen: unknown[] = [];
  try {
    for await (const batch of await settled(loop, client(ConfigMap).watch())) seen.push(...batch);
    return { seen, error: undefined };
  } catch (error) {
    return { seen, error };
  }
}

describe("a watch", () => {
  test("reports objects, and the content of bookmarks", async () => {
    const bookmark = (annotations: object): TransportEvent => ({
      type: "BOOKMARK",
      object: { metadata: { resourceVersion: "9", annotations } },
    });

    const { seen, error } = await watched([
      [{ type: "ADDED", object: OBJECT }, bookmark({ "k8s.io/initial-events-end": "true" })],
      [bookmark({})],
    ]);

    expect(error).toBeUndefined();
    expect(seen).toEqual([
      { type: "ADDED", object: OBJECT },
      { type: "BOOKMARK", resourceVersion: "9", isInitialEnd: true },
      { type: "BOOKMARK", resourceVersion: "9", isInitialEnd: false },
    ]);
  });

  test("delivers events before an ERROR, then rejects with it, then ends", async () => {
    const status = { kind: "Status", code: 410, reason: "Expired", message: "too old" };

    const { seen, error } = await watched([
      [
        { type: "DELETED", object: OBJECT },
        { type: "ERROR", object: status },
        { type: "ADDED", object: OBJECT },
      ],
      [{ type: "ADDED", object: OBJECT }],
    ]);

    expect(seen).toEqual([{ type: "DELETED", object: OBJECT }]);
    expect(error).toMatchObject({ reason: "Expired", message: "too old" });
  });

  test("rejects like other calls when the server rejects it", async () => {
    const loop = new VirtualLoop({ seed: 1 });
    const client = createClient(scripted([{ code: 410, value: { kind: "Status", reason: "Gone" } }]), {
      loop,
    });

    await expect(settled(loop, client(ConfigMap).watch())).rejects.toMatchObject({ reason: "Gone" });
  });
});

describe("OwnedStream", () => {
  test("rejects with the reason of the signal however the source ends", async () => {
    const ending = new AbortController();
    const stream = new OwnedStream(untilAborted(ending.signal), endableSignal([ending.signal]));

    const next = stream.next();
    ending.abort(new Error("enough"));

    await expect(next).rejects.toThrow("enough");
    expect(await stream.next()).toMatchObject({ done: true });
  });

  test("ends the source and the pending read when it is closed", async () => {
    const call = endableSignal([]);
    const stream = new OwnedStream(untilAborted(call.signal), call);

    const next = stream.next();
    await stream.return();

    expect(await next).toMatchObject({ done: true });
    expect(call.signal.aborted).toBe(true);
  });

  test("ignores a signal that is aborted after the end", async () => {
    const ending = new AbortController();
    const call = endableSignal([ending.signal]);
    const stream = new OwnedStream(nothing(), call);

    await stream.next();
    ending.abort();

    expect(call.signal.aborted).toBe(false);
  });
});

/** Ends without an item when the signal is aborted. */
function untilAborted(signal: AbortSignal): AsyncIterable<number> {
  const over = new Promise<IteratorResult<number>>((resolve) => {
    signal.addEventListener("abort", () => resolve({ done: true, value: undefined }));
  });
  return { [Symbol.asyncIterator]: () => ({ next: () => over }) };
}

async function* nothing(): AsyncGenerator<number> {}
