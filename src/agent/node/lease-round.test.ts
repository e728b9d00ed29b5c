import { expect, test } from "vitest";
import { leaseRound } from "./lease-round.ts";

test.each([
  [0, 1, 10_000],
  [3, 1, 10_000],
  [250, 3, 10_000],
  [2000, 10, 10_000],
  [2001, 20, 20_000],
  [5000, 20, 20_000],
])("%i nodes renew in %i slots of a round of %i ms", (nodes, slots, roundMs) => {
  const round = leaseRound(nodes);

  expect(round.slots).toBe(slots);
  expect(round.slots * round.slotMs).toBeCloseTo(roundMs);
});
