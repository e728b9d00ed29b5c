import { expect, test } from "vitest";
import { ttlFor } from "./node-ttl.ts";

test.each([
  ["few nodes are on the first step", 100, undefined, "0"],
  ["one more is on the second", 101, "0", "15"],
  ["one less stays there", 100, "15", "15"],
  ["so do some less", 90, "15", "15"],
  ["much less goes back", 89, "15", "0"],
  ["many at once climb several steps", 2001, "0", "300"],
  ["and come down again", 0, "300", "0"],
  ["what is no step counts as none", 5, "17", "0"],
])("%s", (...[, nodes, known, wanted]) => {
  expect(ttlFor(nodes, known)).toBe(wanted);
});
