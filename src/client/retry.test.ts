import { describe, expect, test } from "vitest";
import { ApiError, serviceUnavailable } from "../api/errors/api-error.ts";
import { ConfigMap } from "../api/generated/types/core-v1.ts";
import { VirtualLoop } from "../base/loop/virtual/virtual-loop.ts";
import { createClient } from "./api-client.ts";
import type { ClientOptions } from "./api-client.ts";
import type { Client } from "./client.ts";
import { scripted, settled } from "./fixture.ts";
import type { ScriptedAnswer, ScriptedTransport } from "./fixture.ts";

const OBJECT = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "default" } };
const KEY = { name: "a" };
const RESET = serviceUnavailable("no response", { cause: new Error("reset") });

interface World {
  readonly loop: VirtualLoop;
  readonly transport: ScriptedTransport;
  readonly client: Client;
}

function world(responses: readonly ScriptedAnswer[], options: Partial<ClientOptions> = {}): World {
  const loop = new VirtualLoop({ seed: 1 });
  const transport = scripted(responses);
  return { loop, transport, client: createClient(transport, { loop, ...options }) };
}

describe("retries", () => {
  test.each([429, 500, 502, 503, 504])("a read is retried after %d", async (code) => {
    const { loop, transport, client } = world([{ code }, { code }, { value: OBJECT }]);

    const object = await settled(loop, client(ConfigMap).get(KEY));

    expect(object).toEqual(OBJECT);
    expect(transport.requests).toHaveLength(3);
    expect(loop.elapsed()).toBeGreaterThan(100);
  });

  test.each([400, 403, 404, 409, 410, 422, 501])("nothing is retried after %d", async (code) => {
    const { loop, transport, client } = world([{ code }]);

    await expect(settled(loop, client(ConfigMap).get(KEY))).rejects.toBeInstanceOf(ApiError);

    expect(transport.requests).toHaveLength(1);
  });

  test("a read without a response is retried", async () => {
    const { loop, transport, client } = world([RESET, { value: OBJECT }]);

    await settled(loop, client(ConfigMap).get(KEY));

    expect(transport.requests).toHaveLength(2);
  });

  test("a read over a closed transport is not retried", async () => {
    const { loop, transport, client } = world([serviceUnavailable("the client was closed")]);

    await expect(settled(loop, client(ConfigMap).get(KEY))).rejects.toThrow("the client was closed");

    expect(transport.requests).toHaveLength(1);
  });

  test("a write without a response is not retried", async () => {
    const { loop, transport, client } = world([RESET, { value: OBJECT }]);

    const writing = settled(loop, client(ConfigMap).create({ metadata: KEY }));

    await expect(writing).rejects.toMatchObject({ reason: "ServiceUnavailable" });
    expect(transport.requests).toHaveLength(1);
  });

  test.each([500, 503, 504])("a write that fails with %d is not retried", async (code) => {
    const { loop, transport, client } = world([{ code, retryAfterSeconds: 1 }]);

    const writing = settled(loop, client(ConfigMap).create({ metadata: KEY }));

    await expect(writing).rejects.toBeInstanceOf(ApiError);
    expect(transport.requests).toHaveLength(1);
  });

  test("a write that the server did not accept is retried with the body it had at the call", async () => {
    const { loop, transport, client } = world([{ code: 429, retryAfterSeconds: 3 }, { value: OBJECT }]);
    const labels: Record<string, string> = { a: "b" };

    const writing = client(ConfigMap).create({ metadata: { ...KEY, labels } });
    labels["a"] = "changed";
    await settled(loop, writing);

    expect(loop.elapsed()).toBe(3000);
    expect(transport.requests[1]?.body).toMatchObject({ metadata: { labels: { a: "b" } } });
  });

  test("a write fails at once on a 429 without a time, for example of an eviction", async () => {
    const { loop, transport, client } = world([{ code: 429 }]);

    const evicting = client(ConfigMap).subresource("eviction").create(KEY, {});

    await expect(settled(loop, evicting)).rejects.toMatchObject({ reason: "TooManyRequests" });
    expect(transport.requests).toHaveLength(1);
  });

  test("a retry waits for the time that the server names, in a header or in its Status", async () => {
    const value = { kind: "Status", details: { retryAfterSeconds: 7 } };
    const { loop, client } = world([{ code: 503, retryAfterSeconds: 5 }, { code: 503, value }, {}]);

    await settled(loop, client(ConfigMap).get(KEY));

    expect(loop.elapsed()).toBe(12_000);
  });

  test("the tries are limited in number, and the last response counts", async () => {
    const { loop, transport, client } = world([{ code: 503 }], { retry: { tries: 3 } });

    await expect(settled(loop, client(ConfigMap).get(KEY))).rejects.toMatchObject({
      reason: "ServiceUnavailable",
    });

    expect(transport.requests).toHaveLength(3);
  });

  test("no call is retried after the total time", async () => {
    const { loop, transport, client } = world([{ code: 503, retryAfterSeconds: 31 }]);

    await expect(settled(loop, client(ConfigMap).get(KEY))).rejects.toMatchObject({
      details: { retryAfterSeconds: 31 },
    });

    expect(transport.requests).toHaveLength(1);
    expect(loop.elapsed()).toBe(0);
  });

  test("retries can be turned off", async () => {
    const { loop, transport, client } = world([{ code: 503 }], { retry: "none" });

    await expect(settled(loop, client(ConfigMap).get(KEY))).rejects.toBeInstanceOf(ApiError);

    expect(transport.requests).toHaveLength(1);
  });

  test("the start of a watch is retried", async () => {
    const { loop, transport, client } = world([{ code: 503 }, RESET, {}]);

    await settled(loop, client(ConfigMap).watch());

    expect(transport.requests).toHaveLength(3);
  });

  test("an abort ends the wait and leaves no timer", async () => {
    const { loop, transport, client } = world([{ code: 503, retryAfterSeconds: 20 }]);
    const ending = new AbortController();

    const reading = client(ConfigMap).get(KEY, { signal: ending.signal });
    await loop.advance(1000);
    ending.abort(new Error("enough"));

    await expect(reading).rejects.toThrow("enough");
    await loop.settle();
    expect(loop.elapsed()).toBe(1000);
    expect(transport.requests).toHaveLength(1);
  });
});
