import { describe, expect, test } from "vitest";
import { findMediaType, patchMediaType } from "./media-type.ts";

describe("findMediaType", () => {
  test.each([
    ["application/json", "application/json"],
    ["Application/JSON ; charset=utf-8", "application/json"],
    ['application/yaml; a=b;c="d;e\\"f"', "application/yaml"],
    ["application/json;", "application/json"],
    ["application/json; a=b ; ", "application/json"],
  ])("%j is %s", (header, type) => {
    expect(findMediaType(header)).toBe(type);
  });

  test.each([
    "application/json; charset",
    "application/json;;",
    'application/json; a="b',
    "application/json; =b",
  ])("%j cannot be read", (header) => {
    expect(findMediaType(header)).toBeUndefined();
  });

  test("parsing a long header takes linear time", () => {
    const start = process.cpuUsage();

    findMediaType(`application/json;${" ".repeat(32_000)}`);
    findMediaType(`application/json;${"a=b;".repeat(8_000)};`);
    findMediaType(`application/json;a="${"\\".repeat(32_000)}`);

    expect(process.cpuUsage(start).user / 1000).toBeLessThan(300);
  });
});

describe("patchMediaType", () => {
  test.each([
    ["application/merge-patch+json", "application/merge-patch+json"],
    ["application/merge-patch+json;charset=utf-8", "application/merge-patch+json"],
    ["Application/Merge-Patch+JSON", "Application/Merge-Patch+JSON"],
    [undefined, ""],
  ])("of %j is %s", (header, type) => {
    expect(patchMediaType(header)).toBe(type);
  });
});
