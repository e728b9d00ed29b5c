import { expect, test } from "vitest";
import { Lookout } from "./lookout.ts";

/** Waits for so many turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

function createLookout(isMissing: () => boolean = () => true): {
  readonly lookout: Lookout;
  readonly seen: { looks: number; elapsed: number };
} {
  const seen = { looks: 0, elapsed: 0 };
  const lookout = new Lookout({ elapsed: () => seen.elapsed }, () => {
    seen.looks += 1;
    return isMissing();
  });
  return { lookout, seen };
}

test("a lookout polls once in every turn of the event loop, and never synchronously", async () => {
  const { lookout, seen } = createLookout();
  lookout.begin(1);
  lookout.begin(1);
  expect(seen.looks).toBe(0);
  await turns(5);
  expect(seen.looks).toBeGreaterThanOrEqual(4);
  expect(seen.looks).toBeLessThanOrEqual(6);
  seen.elapsed = 1;
  await turns(2);
});

test("a lookout ends when its result has arrived", async () => {
  const { lookout, seen } = createLookout(() => seen.looks < 3);
  lookout.begin(1);
  await turns(10);
  expect(seen.looks).toBe(3);
  lookout.begin(1);
  await turns(3);
  expect(seen.looks).toBe(4);
});

test("a lookout ends when its time is over", async () => {
  const { lookout, seen } = createLookout();
  lookout.begin(2);
  await turns(3);
  seen.elapsed = 2;
  await turns(2);
  const { looks } = seen;
  await turns(5);
  expect(seen.looks).toBe(looks);
});

test("a lookout without time does not poll", async () => {
  const { lookout, seen } = createLookout();
  lookout.begin(0);
  await turns(3);
  expect(seen.looks).toBe(0);
});
