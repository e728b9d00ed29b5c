import { expect, test } from "vitest";
import { VirtualLoop } from "../../base/virtual-loop.ts";
import { Gathering } from "./gathering.ts";

test("a moment is over for all who waited at once, and the next one takes as long again", async () => {
  const loop = new VirtualLoop({ seed: 1, startAt: 1000 });
  const gathering = new Gathering(loop);
  const over: number[] = [];
  const waits = [gathering.moment(), gathering.moment()].map((moment) =>
    moment.then(() => over.push(loop.now())),
  );
  await loop.settle();
  await Promise.all(waits);
  const again = gathering.moment().then(() => over.push(loop.now()));
  await loop.settle();
  await again;

  expect(over).toEqual([1005, 1005, 1010]);
});

test("equal frames make one piece for everybody, others a piece of their own", () => {
  const gathering = new Gathering(new VirtualLoop({ seed: 1, startAt: 0 }));
  const [a, b] = [Buffer.from("a"), Buffer.from("b")];
  const first = gathering.join([a, b]);

  expect(Buffer.from(first ?? []).toString()).toBe("ab");
  expect(gathering.join([a, b])).toBe(first);
  expect(Buffer.from(gathering.join([b, a]) ?? []).toString()).toBe("ba");
  expect(gathering.join([a])).not.toBe(first);
});

test("frames that are too large for one piece are left apart", () => {
  const gathering = new Gathering(new VirtualLoop({ seed: 1, startAt: 0 }));

  expect(gathering.join([Buffer.alloc(40_000), Buffer.alloc(40_000)])).toBeUndefined();
});
