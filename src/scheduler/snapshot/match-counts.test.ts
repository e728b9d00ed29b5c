import { expect, test } from "vitest";
import { MatchCounts, type MatchedPod, type PodMatcher } from "./match-counts.ts";

function pod(app: string, more: Partial<MatchedPod> = {}): MatchedPod {
  return { namespace: "default", labels: { app }, isTerminating: false, ...more };
}

/** Counts its calls. */
function matcherOf(app: string) {
  const seen: MatchedPod[] = [];
  const matcher: PodMatcher = {
    text: app,
    matches: (one) => {
      seen.push(one);
      return !one.isTerminating && one.namespace === "default" && one.labels?.["app"] === app;
    },
  };
  return { matcher, seen };
}

function on(counts: MatchCounts, matcher: PodMatcher, slots: readonly number[]): readonly number[] {
  const found = counts.countsOf(matcher);
  return slots.map((slot) => found.at(slot));
}

test("a count follows the pods that come and go after it was made, and those before", () => {
  const counts = new MatchCounts();
  const { matcher } = matcherOf("web");
  counts.add(pod("web"), 1);
  counts.add(pod("web"), 1);
  counts.add(pod("db"), 1);
  const before = on(counts, matcher, [1, 2]);

  counts.add(pod("web"), 2);
  counts.remove(pod("web"), 1);
  counts.add(pod("web", { isTerminating: true }), 1);
  counts.add(pod("web", { namespace: "other" }), 1);
  counts.remove(pod("db"), 1);
  counts.add(pod("web"), 100);

  expect(before).toEqual([2, 0]);
  expect(on(counts, matcher, [1, 2, 100])).toEqual([1, 1, 1]);
});

test("a pod that was never added is not removed, and the last one of a kind leaves nothing behind", () => {
  const counts = new MatchCounts();
  const { matcher } = matcherOf("web");
  counts.remove(pod("web"), 1);
  counts.add(pod("web"), 1);
  counts.remove(pod("web"), 1);
  counts.remove(pod("web"), 1);
  counts.add(pod("web"), 2);

  expect(on(counts, matcher, [1, 2])).toEqual([0, 1]);
});

test.each([1000, 20_000])("a new count asks once for all equal pods, of %i", (size) => {
  const counts = new MatchCounts();
  for (let n = 0; n < size; n++) counts.add(pod(`app-${String(n % 20)}`), n % 100);
  const { matcher, seen } = matcherOf("app-3");

  const found = counts.countsOf(matcher);
  const visited = seen.length;
  counts.add(pod("app-3"), 3);

  expect(visited).toBe(20);
  expect(seen, "known labels need no new comparison").toHaveLength(visited);
  expect(found.at(3)).toBe(size / 100 + 1);
});

test("of many counts, the one that was not used for longest is forgotten", () => {
  const counts = new MatchCounts();
  counts.add(pod("app-0"), 1);
  const [first, second] = [matcherOf("app-0"), matcherOf("app-1")];
  counts.countsOf(first.matcher);
  counts.countsOf(second.matcher);
  counts.countsOf(first.matcher);
  for (let n = 2; n < 513; n++) counts.countsOf(matcherOf(`app-${String(n)}`).matcher);
  const [asked, askedSecond] = [first.seen.length, second.seen.length];

  counts.add(pod("app-0"), 2);

  expect(on(counts, first.matcher, [1, 2])).toEqual([1, 1]);
  expect(first.seen).toHaveLength(asked);
  counts.countsOf(second.matcher);
  expect(second.seen.length).toBeGreaterThan(askedSecond);
});
