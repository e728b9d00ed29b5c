import { expect, test } from "vitest";
import { stepFor } from "./node-ttl.ts";

test.each([
  ["few nodes are on the first step", 100, 0, 0],
  ["one more is on the second", 101, 0, 1],
  ["one less stays there", 100, 1, 1],
  ["so do some less", 90, 1, 1],
  ["much less goes back", 89, 1, 0],
  ["many at once climb several steps", 2001, 0, 4],
  ["and come down again", 0, 4, 0],
])("%s", (...[, nodes, from, to]) => {
  expect(stepFor(nodes, from)).toBe(to);
});
