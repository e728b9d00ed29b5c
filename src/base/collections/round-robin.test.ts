import { describe, expect, test } from "vitest";
import { RoundRobin } from "./round-robin.ts";

function filled(items: Readonly<Record<string, readonly string[]>>): RoundRobin<string> {
  const rounds = new RoundRobin<string>();
  for (const [item, path] of Object.entries(items)) rounds.push(path, item);
  return rounds;
}

function drained(rounds: RoundRobin<string>): readonly string[] {
  const items: string[] = [];
  for (let item = rounds.shift(); item !== undefined; item = rounds.shift()) items.push(item);
  return items;
}

describe("RoundRobin", () => {
  test("go round between groups, and within a group between its owners", () => {
    const rounds = filled({
      a1: ["a", "1"],
      a2: ["a", "1"],
      a3: ["a", "2"],
      b1: ["b", "1"],
      b2: ["b", "1"],
    });

    expect(drained(rounds)).toEqual(["a1", "b1", "a3", "b2", "a2"]);
    expect(rounds.length).toBe(0);
  });

  test("give a group with many owners no more turns than a group with one", () => {
    const rounds = new RoundRobin<string>();
    for (let n = 0; n < 1000; n++) rounds.push(["flood", String(n)], "flood");
    for (let n = 0; n < 3; n++) rounds.push(["a", "1"], "a");

    expect(drained(rounds).slice(0, 6)).toEqual(["flood", "a", "flood", "a", "flood", "a"]);
  });

  test("drop the newest item of the longest owner in the longest group", () => {
    const rounds = filled({
      a1: ["a", "1"],
      a2: ["a", "2"],
      a3: ["a", "2"],
      b1: ["b", "1"],
    });

    expect([rounds.dropFromLongest(), rounds.length]).toEqual(["a3", 3]);
    expect(drained(rounds)).toEqual(["a1", "b1", "a2"]);
  });

  test("serve an owner again that a drop had emptied", () => {
    const rounds = filled({ a1: ["a"] });

    expect(rounds.dropFromLongest()).toBe("a1");
    expect(rounds.dropFromLongest()).toBeUndefined();
    rounds.push(["a"], "a2");
    rounds.push(["b"], "b1");

    expect(drained(rounds)).toEqual(["a2", "b1"]);
  });
});
