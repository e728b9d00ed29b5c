import { describe, expect, test } from "vitest";
import { KindProbe } from "../rules/kind-probe.ts";
import { configMap } from "./config-map.ts";

const probe = new KindProbe(configMap);
const KEY_PROBLEM =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

describe("a ConfigMap", () => {
  test("may hold text and bytes", () => {
    expect(probe.problems({ data: { "a.b": "x" }, binaryData: { c: "AAEC" } })).toEqual([]);
  });

  test.each([
    [{ data: { "a b": "x" } }, `data[a b]: Invalid value: "a b": ${KEY_PROBLEM}`],
    [{ binaryData: { "..": "AA==" } }, `binaryData[..]: Invalid value: "..": must not be '..'`],
    [
      { data: { a: "x" }, binaryData: { a: "AA==" } },
      'data[a]: Invalid value: "a": duplicate of key present in binaryData',
    ],
    [{ data: { a: "x".repeat(2 ** 20 + 1) } }, "[]: Too long: may not be more than 1048576 bytes"],
  ])("is refused for invalid keys or excessive size: %#", (manifest, problem) => {
    expect(probe.problems(manifest)).toEqual([problem]);
  });

  test("may have one MiB", () => {
    expect(probe.problems({ data: { a: "x".repeat(2 ** 20 - 3) }, binaryData: { b: "AAEC" } })).toEqual([]);
  });

  test("stays immutable and keeps its data once immutable", () => {
    const detail = "Forbidden: field is immutable when `immutable` is set";
    const previous = { immutable: true, data: { a: "1" }, binaryData: { b: "AA==" } };

    expect(probe.updateProblems({ data: { a: "2" } }, previous)).toEqual([
      `immutable: ${detail}`,
      `data: ${detail}`,
      `binaryData: ${detail}`,
    ]);
    expect(probe.updateProblems({ ...previous, metadata: { labels: { x: "y" } } }, previous)).toEqual([]);
  });

  test("may change while it is not immutable", () => {
    expect(probe.updateProblems({ data: { a: "2" } }, { data: { a: "1" } })).toEqual([]);
  });

  test("shows the number of its keys", () => {
    expect(probe.cells({ data: { a: "1", b: "2" }, binaryData: { c: "AA==" } })).toEqual(["it", 3, "2m5s"]);
  });
});
