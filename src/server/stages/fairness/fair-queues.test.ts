import { describe, expect, test } from "vitest";
import { dealHand, FairQueues } from "./fair-queues.ts";
import type { QueueLimits } from "./fair-queues.ts";

const LIMITS = { queues: 16, handSize: 4, queueLengthLimit: 3 };

interface Item {
  readonly seats: number;
  readonly flow: string;
}

function item(flow: string, seats = 1): Item {
  return { seats, flow };
}

function always(): boolean {
  return true;
}

describe("dealHand", () => {
  test("gives each flow different queues, and the same ones each time", () => {
    const hand = dealHand("alice", LIMITS);

    expect(new Set(hand).size).toBe(4);
    expect(hand.every((card) => card >= 0 && card < 16)).toBe(true);
    expect(dealHand("alice", LIMITS)).toEqual(hand);
  });

  test("uses every queue about equally often", () => {
    const counts = Array.from({ length: 16 }, () => 0);
    for (let flow = 0; flow < 4000; flow++)
      for (const card of dealHand(`user-${String(flow)}`, LIMITS)) counts[card] = (counts[card] ?? 0) + 1;

    expect(Math.min(...counts)).toBeGreaterThan(850);
    expect(Math.max(...counts)).toBeLessThan(1150);
  });

  test("gives hardly any two flows the same hand", () => {
    const limits = { ...LIMITS, queues: 128, handSize: 6 };
    const hands = new Set<string>();
    for (let flow = 0; flow < 2000; flow++) {
      hands.add(
        dealHand(`user-${String(flow)}`, limits)
          .toSorted((a, b) => a - b)
          .join(),
      );
    }

    expect(hands.size).toBe(2000);
  });
});

describe("FairQueues", () => {
  let clock = 0;
  const open = (limits: QueueLimits): FairQueues<Item> => new FairQueues<Item>(limits, () => clock);

  /** The flows in the order in which they are served, each for the same time. */
  function served(queues: FairQueues<Item>, turns: number): readonly string[] {
    const flows: string[] = [];
    for (let n = 0; n < turns; n++) {
      const turn = queues.take(always);
      if (turn === undefined) break;
      flows.push(turn.waiter.flow);
      clock += 10;
      turn.end();
    }
    return flows;
  }

  test("a flow with few requests does not wait for one with many", () => {
    const queues = open({ queues: 64, handSize: 1, queueLengthLimit: 50 });
    for (let n = 0; n < 40; n++) queues.add("elephant", item("elephant"));
    queues.add("mouse", item("mouse"));
    queues.add("mouse", item("mouse"));

    const order = served(queues, 42);

    expect(order.indexOf("mouse")).toBeLessThan(2);
    expect(order.lastIndexOf("mouse")).toBeLessThan(4);
    expect(order).toHaveLength(42);
  });

  test("a flow that takes more seats has fewer turns", () => {
    const queues = open({ queues: 64, handSize: 1, queueLengthLimit: 50 });
    for (let n = 0; n < 40; n++) {
      queues.add("wide", item("wide", 4));
      queues.add("narrow", item("narrow", 1));
    }

    const order = served(queues, 25);

    expect(order.filter((flow) => flow === "wide")).toHaveLength(5);
  });

  test("a flow that returns has no credit for its idle time", () => {
    const queues = open({ queues: 64, handSize: 1, queueLengthLimit: 50 });
    for (let n = 0; n < 40; n++) queues.add("steady", item("steady"));
    served(queues, 20);
    for (let n = 0; n < 20; n++) queues.add("late", item("late"));

    const order = served(queues, 20);

    expect(order.filter((flow) => flow === "late").length).toBeGreaterThanOrEqual(9);
    expect(order.filter((flow) => flow === "late").length).toBeLessThanOrEqual(11);
  });

  test("a flow that holds many seats yields before it releases them", () => {
    const queues = open({ queues: 64, handSize: 1, queueLengthLimit: 50 });
    for (let n = 0; n < 3; n++) queues.add("wide", item("wide", 8));
    queues.take(always);
    clock += 1000;
    queues.add("narrow", item("narrow"));
    queues.take(always)?.end();
    clock += 50;
    queues.add("narrow", item("narrow"));

    expect(queues.take(always)?.waiter.flow).toBe("narrow");
  });

  test("a flow fills its hand and no more", () => {
    const queues = open(LIMITS);

    const taken = Array.from({ length: 20 }, () => queues.add("alice", item("alice")));

    expect(taken.filter(Boolean)).toHaveLength(4 * 3);
    expect(queues.waiting).toBe(12);
    expect(queues.add("bob", item("bob"))).toBe(true);
  });

  test("no waiter overtakes the next one that lacks room", () => {
    const queues = open({ queues: 1, handSize: 1, queueLengthLimit: 10 });
    queues.add("a", item("wide", 5));
    queues.add("a", item("narrow", 1));

    expect(queues.take(({ seats }) => seats <= 2)).toBeUndefined();
    expect(queues.take(always)?.waiter.flow).toBe("wide");
  });

  test("a waiter that gives up leaves its queue", () => {
    const queues = open(LIMITS);
    const first = item("alice");
    queues.add("alice", first);

    queues.remove(first);

    expect(queues.waiting).toBe(0);
    expect(queues.waitingSeats).toBe(0);
    expect(queues.active).toEqual([]);
    expect(queues.take(always)).toBeUndefined();
  });
});
