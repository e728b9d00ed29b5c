import { expect, test } from "vitest";
import { plainReason } from "./plain-reason.ts";

test.each([
  [
    "No connection established. Last error: Error: connect ECONNREFUSED 127.0.0.1:1. Resolution note: ",
    "connect ECONNREFUSED 127.0.0.1:1",
  ],
  ["No connection established. Last error: null. Resolution note: x", "null"],
  ["Deadline exceeded", "Deadline exceeded"],
])("%j is told as %j", (details, reason) => {
  expect(plainReason(details)).toBe(reason);
});
