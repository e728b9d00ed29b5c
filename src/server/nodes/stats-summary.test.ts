import { describe, expect, test } from "vitest";
import { parseStatsSummary } from "./stats-summary.ts";

const cpu = { time: "2026-01-02T03:04:05Z", usageNanoCores: 2_500_000 };
const memory = { time: "2026-01-02T03:04:05Z", workingSetBytes: 4096 };
const podRef = { name: "web", namespace: "default", uid: "1" };

function bytesOf(body: object): Buffer {
  return Buffer.from(JSON.stringify(body));
}

describe("a kubelet's summary", () => {
  test("is read as millicores and bytes", () => {
    const pods = [{ podRef, containers: [{ name: "main", cpu, memory }] }];
    const { node, pods: found } = parseStatsSummary(bytesOf({ node: { cpu, memory }, pods }));

    expect(node).toEqual({ cpuMillis: 2.5, memoryBytes: 4096 });
    expect(Object.fromEntries(found)).toEqual({
      "default/web": [{ name: "main", cpuMillis: 2.5, memoryBytes: 4096 }],
    });
  });

  test.each([
    ["without containers", []],
    [
      "of which a container has no figure yet",
      [
        { name: "main", cpu, memory },
        { name: "new", cpu: {}, memory },
      ],
    ],
  ])("leaves out a pod %s", (_name, containers) => {
    expect(parseStatsSummary(bytesOf({ pods: [{ podRef, containers }] }))).toEqual({
      node: undefined,
      pods: new Map(),
    });
  });

  test.each(["", "[]", "null", "1"])("is not the text %j", (text) => {
    expect(() => parseStatsSummary(Buffer.from(text))).toThrow(/JSON|expected an object/);
  });

  test.each([
    ["millions of lists", `[${"[],".repeat(1_000_000)}[]]`, "more than 200000 tokens"],
    ["deep nesting", "[".repeat(100_000), "nest"],
  ])("of %s is refused before it is parsed", (_, text, why) => {
    expect(() => parseStatsSummary(Buffer.from(text))).toThrow(why);
  });
});
