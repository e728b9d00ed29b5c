import { expect, test } from "vitest";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import { WatchBatcher } from "./watch-feed.ts";

/** Takes one of `pieces` pieces each time it is served, and schedules itself again until none is left. */
class Reader {
  readonly servedAt: number[] = [];
  readonly #fixture: Fixture;
  #left: number;

  constructor(fixture: Fixture, pieces: number) {
    this.#fixture = fixture;
    this.#left = pieces;
  }

  ready(): void {
    this.#fixture.batcher.schedule(this);
  }

  serve(): boolean {
    if (this.#left === 0) return false;
    this.#left -= 1;
    this.servedAt.push(this.#fixture.loop.now() - START);
    this.ready();
    return true;
  }
}

const START = 1000;

class Fixture {
  readonly loop = new VirtualLoop({ seed: 1, startAt: START });
  readonly batcher = new WatchBatcher(this.loop);
}

test("a quiet listener is served at once, and waits a moment for later events", async () => {
  const fixture = new Fixture();
  const reader = new Reader(fixture, 3);
  reader.ready();
  await fixture.loop.settle();

  expect(reader.servedAt).toEqual([0, 5, 10]);
});

test("a moment ends for all waiting listeners, and does not delay quiet ones", async () => {
  const fixture = new Fixture();
  const [first, second, late] = [new Reader(fixture, 2), new Reader(fixture, 2), new Reader(fixture, 2)];
  first.ready();
  second.ready();
  fixture.loop.timer(START + 3, "progress", () => late.ready());
  await fixture.loop.settle();

  expect([first.servedAt, second.servedAt, late.servedAt]).toEqual([
    [0, 5],
    [0, 5],
    [3, 5],
  ]);
});

test("a listener without events does not wait", async () => {
  const fixture = new Fixture();
  const reader = new Reader(fixture, 1);
  const empty = new Reader(fixture, 0);
  empty.ready();
  await fixture.loop.settle();
  reader.ready();
  await fixture.loop.settle();

  expect(reader.servedAt).toEqual([fixture.loop.now() - START - 5]);
});

test("a listener that is scheduled twice is served once", async () => {
  const fixture = new Fixture();
  let served = 0;
  const reader = { serve: () => (served += 1) < 0 };
  fixture.batcher.schedule(reader);
  fixture.batcher.schedule(reader);
  await fixture.loop.settle();

  expect(served).toBe(1);
});

test("a moment is longer after very many listeners, up to a bound", async () => {
  const lengthFor = async (count: number): Promise<number> => {
    const fixture = new Fixture();
    const readers = Array.from({ length: count }, () => new Reader(fixture, 2));
    for (const reader of readers) reader.ready();
    await fixture.loop.settle();
    return readers[0]?.servedAt[1] ?? 0;
  };

  expect([await lengthFor(125), await lengthFor(200), await lengthFor(2000)]).toEqual([13, 16, 16]);
});

test("other steps run while very many listeners are served", async () => {
  const { loop } = new Fixture();
  let passedMs = 0;
  const batcher = new WatchBatcher({
    elapsed: () => loop.elapsed() + passedMs,
    now: () => loop.now(),
    post: (lane, step) => loop.post(lane, step),
    timer: (at, kind, step) => loop.timer(at, kind, step),
  });
  const order: string[] = [];
  const serve = (): boolean => {
    passedMs += 1;
    order.push("listener");
    return true;
  };
  for (let n = 0; n < 30; n += 1) batcher.schedule({ serve });
  loop.post("request", () => void order.push("other"));
  await loop.settle();

  expect(order).toHaveLength(31);
  expect(order.indexOf("other")).toBeLessThan(30);
});

test("the time of serving counts towards the wait of many listeners", async () => {
  const { loop } = new Fixture();
  let passedMs = 0;
  let waitedMs = 0;
  const batcher = new WatchBatcher({
    elapsed: () => passedMs,
    now: () => loop.now(),
    post: (lane, step) => loop.post(lane, step),
    timer: (at, kind, step) => {
      waitedMs = at - loop.now();
      return loop.timer(at, kind, step);
    },
  });
  const serve = (): boolean => {
    passedMs += 0.04;
    return true;
  };
  for (let n = 0; n < 200; n += 1) batcher.schedule({ serve });
  await loop.settle();

  expect(waitedMs).toBeCloseTo(16 - 200 * 0.04);
});
