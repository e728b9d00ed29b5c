import { describe, expect, test } from "vitest";
import { containerCells, labelsText, selectorCell } from "./workload-cells.ts";

describe("cells of workloads", () => {
  test("containers and images are joined with commas", () => {
    const spec = {
      containers: [
        { name: "a", image: "one", resources: {} },
        { name: "b", resources: {} },
      ],
    };

    expect(containerCells(spec)).toEqual(["a,b", "one,"]);
  });

  test("labels are sorted, and none is said so", () => {
    expect(labelsText({ b: "2", a: "1" })).toBe("a=1,b=2");
    expect(labelsText(undefined)).toBe("<none>");
  });

  test("selectors read as a query", () => {
    expect(selectorCell({ matchLabels: { app: "web" } })).toBe("app=web");
    expect(selectorCell({})).toBe("<none>");
    expect(selectorCell({ matchExpressions: [{ key: "a", operator: "Near" }] })).toBe("<error>");
  });
});
