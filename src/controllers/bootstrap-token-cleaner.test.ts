import { expect, test } from "vitest";
import type { Secret } from "../api/generated/types/core-v1.ts";
import { incomplete } from "../api/object-fixture.ts";
import { findExpiry } from "./bootstrap-token-cleaner.ts";

const TIME = "2026-01-01T00:00:00Z";

test.each([
  ["", undefined],
  [TIME, Date.parse(TIME)],
  ["2026-01-01T02:00:00+02:00", Date.parse(TIME)],
  ["tomorrow", -Infinity],
])("a token with expiration %j expires at %s", (text, expiry) => {
  const data = { expiration: Buffer.from(text).toString("base64") };

  expect(findExpiry(incomplete<Secret>({ data }))).toBe(expiry);
});
