import { expect, test } from "vitest";
import { ttlFor } from "./node-ttl.ts";

test.each([
  ["a few nodes are on the first step", 100, undefined, "0"],
  ["one more node moves to the second step", 101, "0", "15"],
  ["one node less stays there", 100, "15", "15"],
  ["a few nodes less stay there too", 90, "15", "15"],
  ["many nodes less move back", 89, "15", "0"],
  ["many nodes more move up several steps", 2001, "0", "300"],
  ["and move down again", 0, "300", "0"],
  ["an unknown value counts as the first step", 5, "17", "0"],
])("%s", (...[, nodes, known, wanted]) => {
  expect(ttlFor(nodes, known)).toBe(wanted);
});
