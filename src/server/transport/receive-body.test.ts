import { once } from "node:events";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import type { ApiError } from "../../api/errors/api-error.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import { BodyBudget, receiveBody } from "./receive-body.ts";

const loop = createRealLoop({ name: "test" });

describe("receiveBody", () => {
  test("counts the received bytes of all bodies, and releases them when one ends", async () => {
    const budget = new BodyBudget(10);
    const [first, second, third] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const [receivingFirst, receivingSecond] = [receive(first, budget), receive(second, budget)];

    first.write("123456");
    second.write("12345");
    await expect(receivingSecond).rejects.toMatchObject({ reason: "TooManyRequests" });
    first.end("7890");
    await receivingFirst;
    third.end("1234567890");

    expect(Buffer.from(await receive(third, budget)).toString()).toBe("1234567890");
  });

  test("releases the bytes of a broken body once", async () => {
    const budget = new BodyBudget(10);
    const incoming = new PassThrough();
    const receiving = receive(incoming, budget);

    incoming.write("123456");
    incoming.destroy(new Error("reset"));

    await expect(receiving).rejects.toMatchObject({ reason: "BadRequest" });
    expect([budget.take(10), budget.take(1)]).toEqual([true, false]);
  });

  test("aborts slow bodies when the budget is used up, oldest first", async () => {
    const virtual = new VirtualLoop({ seed: 1 });
    const budget = new BodyBudget(10);
    const begin = (): { readonly incoming: PassThrough; readonly outcome: Promise<unknown> } => {
      const incoming = new PassThrough();
      const source = { incoming, announcedBytes: undefined, isWhole: () => true };
      const receiving = receiveBody(source, { loop: virtual, budget, timeoutMs: 60_000, maxBytes: 100 });
      return { incoming, outcome: receiving.then(textOf, ({ reason }: ApiError) => reason) };
    };
    const [slow, slower, third] = [begin(), begin(), begin()];
    slow.incoming.write("1234");
    slower.incoming.write("12345");
    third.incoming.end("123");
    const early = await third.outcome;

    await virtual.advance(3000);
    const fourth = begin();
    fourth.incoming.end("12345");

    expect([early, await fourth.outcome, await slow.outcome]).toEqual([
      "TooManyRequests",
      "12345",
      "TooManyRequests",
    ]);
    slower.incoming.end("67890");
    expect(await slower.outcome).toBe("1234567890");
  });

  test("handles a body that ended before the first read", async () => {
    const incoming = new PassThrough();
    incoming.end();
    incoming.resume();
    await once(incoming, "end");

    expect(await receive(incoming, new BodyBudget(10))).toHaveLength(0);
  });

  test("reads nothing of a body whose announced length is too long", async () => {
    const incoming = new PassThrough();
    incoming.write("x");

    const receiving = receiveBody(
      { incoming, announcedBytes: 101, isWhole: () => true },
      { loop, budget: new BodyBudget(1000), timeoutMs: 1000, maxBytes: 100 },
    );

    await expect(receiving).rejects.toMatchObject({ reason: "RequestEntityTooLarge" });
    expect(incoming.readableLength).toBe(1);
  });
});

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}

function receive(incoming: PassThrough, budget: BodyBudget): Promise<Uint8Array> {
  const source = { incoming, announcedBytes: undefined, isWhole: () => true };
  return receiveBody(source, { loop, budget, timeoutMs: 1000, maxBytes: 100 });
}
