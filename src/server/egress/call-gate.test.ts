import { setMaxListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { CallGate } from "./call-gate.ts";

const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);

/** Fills all places of the gate; calling an element leaves one. */
async function fill(gate: CallGate, target: string): Promise<(() => void)[]> {
  const leaves: (() => void)[] = [];
  for (let count = 0; count < 64; count++) leaves.push(await gate.enter(target, NEVER));
  return leaves;
}

describe("calls to one server", () => {
  test("beyond the limit wait, and start in the order of their arrival", async () => {
    const gate = new CallGate();
    const [first, second] = await fill(gate, "a");
    const order: string[] = [];
    const one = Promise.resolve(gate.enter("a", NEVER)).then(() => order.push("one"));
    const two = Promise.resolve(gate.enter("a", NEVER)).then(() => order.push("two"));
    await gate.enter("b", NEVER);

    first?.();
    await one;
    second?.();
    await two;

    expect(order).toEqual(["one", "two"]);
  });

  test("that are canceled while they wait take no place", async () => {
    const gate = new CallGate();
    const [first] = await fill(gate, "a");
    const abort = new AbortController();
    const given = Promise.resolve(gate.enter("a", abort.signal));
    const next = Promise.resolve(gate.enter("a", NEVER));

    abort.abort(new Error("no more"));
    await expect(given).rejects.toThrow("no more");
    first?.();

    expect(await next).toBeTypeOf("function");
  });

  test("are refused when too many wait", async () => {
    const gate = new CallGate();
    await fill(gate, "a");
    for (let count = 0; count < 1024; count++) void gate.enter("a", NEVER);

    expect(() => gate.enter("a", NEVER)).toThrow("1024 calls already wait for this server");
  });
});
