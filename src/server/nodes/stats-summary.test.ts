import { describe, expect, test } from "vitest";
import { parseStatsSummary } from "./stats-summary.ts";

const cpu = { time: "2026-01-02T03:04:05Z", usageNanoCores: 2_500_000 };
const memory = { time: "2026-01-02T03:04:05Z", workingSetBytes: 4096 };
const podRef = { name: "web", namespace: "default", uid: "1" };

describe("a kubelet's summary", () => {
  test("is read as millicores and bytes", () => {
    const pods = [{ podRef, containers: [{ name: "main", cpu, memory }] }];
    const { node, pods: found } = parseStatsSummary(JSON.stringify({ node: { cpu, memory }, pods }));

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
    expect(parseStatsSummary(JSON.stringify({ pods: [{ podRef, containers }] }))).toEqual({
      node: undefined,
      pods: new Map(),
    });
  });

  test.each(["", "[]", "null", "1"])("is not the text %j", (text) => {
    expect(() => parseStatsSummary(text)).toThrow(/JSON|expected an object/);
  });
});
