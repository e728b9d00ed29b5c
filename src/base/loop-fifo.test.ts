import fc from "fast-check";
import { expect, test } from "vitest";
import { Fifo } from "./loop-fifo.ts";

test("a fifo gives back what was pushed, in order, for every mix of push and shift", () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 300 }), (isPush) => {
      const fifo = new Fifo<number>();
      const model: number[] = [];
      for (const [i, push] of isPush.entries()) {
        const [given, wanted] = push ? [fifo.push(i), void model.push(i)] : [fifo.shift(), model.shift()];
        expect(given).toBe(wanted);
        expect(fifo.length).toBe(model.length);
        expect([...fifo]).toEqual(model);
      }
    }),
  );
});

test("a fifo works on after a burst", () => {
  const fifo = new Fifo<number>();
  for (let i = 0; i < 20_000; i++) fifo.push(i);
  for (let i = 0; i < 20_000; i++) expect(fifo.shift()).toBe(i);
  fifo.push(1);

  expect(fifo.shift()).toBe(1);
  expect(fifo.shift()).toBeUndefined();
});
