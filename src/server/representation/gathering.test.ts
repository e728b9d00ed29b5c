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

test("a moment lasts longer when very many wait, up to a bound", async () => {
  const endOf = async (watchers: number): Promise<number> => {
    const loop = new VirtualLoop({ seed: 1, startAt: 1000 });
    const gathering = new Gathering(loop);
    const waits = Array.from({ length: watchers }, () => gathering.moment());
    await loop.settle();
    await Promise.all(waits);
    return loop.now() - 1000;
  };

  expect([await endOf(125), await endOf(200), await endOf(10_000)]).toEqual([5, 8, 10]);
});

test("equal frames make one piece for everybody, others a piece of their own", () => {
  const gathering = new Gathering(new VirtualLoop({ seed: 1, startAt: 0 }));
  const [a, b] = [Buffer.from("a"), Buffer.from("b")];
  const first = gathering.join([a, b]);

  expect(Buffer.concat(first ?? []).toString()).toBe("ab");
  expect(gathering.join([a, b])).toBe(first);
  expect(Buffer.concat(gathering.join([b, a]) ?? []).toString()).toBe("ba");
  expect(gathering.join([a])).not.toBe(first);
});

test("frames that are too large for one piece make several, and too many are left apart", () => {
  const gathering = new Gathering(new VirtualLoop({ seed: 1, startAt: 0 }));
  const frames = Array.from({ length: 3 }, () => Buffer.alloc(40_000));

  expect(gathering.join(frames)?.map(({ byteLength }) => byteLength)).toEqual([80_000, 40_000]);
  expect(gathering.join(Array.from({ length: 30 }, () => Buffer.alloc(40_000)))).toBeUndefined();
});
