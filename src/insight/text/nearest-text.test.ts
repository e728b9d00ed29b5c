import { expect, test } from "vitest";
import { nearestOf } from "./nearest-text.ts";

test.each([
  ["crahs", ["crash", "web"], "crash"],
  ["web", ["web-7758cfff-pdnjw", "db"], "web-7758cfff-pdnjw"],
  ["frontend", ["backend", "frontned"], "frontned"],
  ["zzz", ["web", "db"], undefined],
  ["a", ["b"], undefined],
])("the nearest to %s of %j is %s", (wanted, known, expected) => {
  expect(nearestOf(wanted, known)).toBe(expected);
});
