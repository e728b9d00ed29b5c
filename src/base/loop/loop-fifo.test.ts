import fc from "fast-check";
import { expect, test } from "vitest";
import { Fifo } from "./loop-fifo.ts";

test("a fifo gives back what was pushed, in order, for every mix of push, shift and pop", () => {
  const steps = fc.constantFrom("push", "push", "shift", "pop");
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 300 }), (taken) => {
      const fifo = new Fifo<number>();
      const model: number[] = [];
      for (const [i, step] of taken.entries()) {
        const [given, wanted] =
          step === "push" ? [fifo.push(i), void model.push(i)] : [fifo[step](), model[step]()];
        expect(given).toBe(wanted);
        expect(fifo.length).toBe(model.length);
        expect([...fifo]).toEqual(model);
      }
    }),
  );
});

test("a fifo continues to work after a burst", () => {
  const fifo = new Fifo<number>();
  for (let i = 0; i < 20_000; i++) fifo.push(i);
  for (let i = 0; i < 20_000; i++) expect(fifo.shift()).toBe(i);
  fifo.push(1);

  expect(fifo.shift()).toBe(1);
  expect(fifo.shift()).toBeUndefined();
});
