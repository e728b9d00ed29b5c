import { describe, expect, test } from "vitest";
import { errorFromResponse } from "./response-error.ts";

describe("errorFromResponse", () => {
  test("carries the reason, message and details of the Status", () => {
    const details = { name: "a", kind: "pods", causes: [{ field: "spec" }] };
    const value = {
      kind: "Status",
      reason: "Invalid",
      message: "wrong",
      details,
      code: 422,
      metadata: { continue: "t" },
    };

    expect(errorFromResponse({ code: 422, value })).toMatchObject({
      reason: "Invalid",
      message: "wrong",
      details,
      continueToken: "t",
    });
  });

  test.each([
    [400, "BadRequest"],
    [402, "BadRequest"],
    [409, "Conflict"],
    [410, "Gone"],
    [422, "Invalid"],
    [429, "TooManyRequests"],
    [500, "InternalError"],
    [502, "ServiceUnavailable"],
    [504, "Timeout"],
    [301, "InternalError"],
  ])("%d without a known reason is %s", (code, reason) => {
    expect(errorFromResponse({ code, value: { kind: "Status", reason: "Invented" } })).toMatchObject({
      reason,
    });
  });

  test("shows the beginning of a body that is not a Status", () => {
    expect(errorFromResponse({ code: 502, value: `  bad gateway ${"x".repeat(1000)}` }).message).toMatch(
      /^bad gateway x+$/,
    );
    expect(errorFromResponse({ code: 502, value: "x".repeat(1000) }).message).toHaveLength(200);
    expect(errorFromResponse({ code: 503, value: undefined }).message).toBe("the server returned code 503");
  });

  test("carries the time after which to retry", () => {
    expect(errorFromResponse({ code: 429, value: undefined, retryAfterSeconds: 3 }).details).toEqual({
      retryAfterSeconds: 3,
    });
  });
});
