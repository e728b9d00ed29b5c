import { expect, test } from "vitest";
import { TurnPoller } from "./turn-poller.ts";

/** Waits for so many turns of the event loop. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

function createPoller(isMissing: () => boolean = () => true): {
  readonly poller: TurnPoller;
  readonly seen: { looks: number; elapsed: number };
} {
  const seen = { looks: 0, elapsed: 0 };
  const poller = new TurnPoller({ elapsed: () => seen.elapsed }, () => {
    seen.looks += 1;
    return isMissing();
  });
  return { poller, seen };
}

test("a poller polls once in every turn of the event loop, and never synchronously", async () => {
  const { poller, seen } = createPoller();
  poller.begin(1);
  poller.begin(1);
  expect(seen.looks).toBe(0);
  await turns(5);
  expect(seen.looks).toBeGreaterThanOrEqual(4);
  expect(seen.looks).toBeLessThanOrEqual(6);
  seen.elapsed = 1;
  await turns(2);
});

test("a poller ends when its result has arrived", async () => {
  const { poller, seen } = createPoller(() => seen.looks < 3);
  poller.begin(1);
  await turns(10);
  expect(seen.looks).toBe(3);
  poller.begin(1);
  await turns(3);
  expect(seen.looks).toBe(4);
});

test("a poller ends when its time is over", async () => {
  const { poller, seen } = createPoller();
  poller.begin(2);
  await turns(3);
  seen.elapsed = 2;
  await turns(2);
  const { looks } = seen;
  await turns(5);
  expect(seen.looks).toBe(looks);
});

test("a poller without time does not poll", async () => {
  const { poller, seen } = createPoller();
  poller.begin(0);
  await turns(3);
  expect(seen.looks).toBe(0);
});
