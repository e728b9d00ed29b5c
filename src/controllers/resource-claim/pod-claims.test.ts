import { describe, expect, test } from "vitest";
import { baseName } from "./pod-claims.ts";

describe("the name of a claim", () => {
  test("consists of the names of pod and request, both shortened if too long", () => {
    expect(baseName("web", "gpu")).toBe("web-gpu-");
    const long = baseName("p".repeat(100), "c".repeat(20));
    expect(long).toBe(`${"p".repeat(46)}-${"c".repeat(9)}`);
    expect(long.length).toBeLessThan(58);
  });
});
