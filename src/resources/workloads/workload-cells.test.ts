import { describe, expect, test } from "vitest";
import { containerCells, labelsText, selectorCell } from "./workload-cells.ts";

describe("table cells of workloads", () => {
  test("join containers and images with commas", () => {
    const spec = {
      containers: [
        { name: "a", image: "one", resources: {} },
        { name: "b", resources: {} },
      ],
    };

    expect(containerCells(spec)).toEqual(["a,b", "one,"]);
  });

  test("sort labels, and show <none> without labels", () => {
    expect(labelsText({ b: "2", a: "1" })).toBe("a=1,b=2");
    expect(labelsText(undefined)).toBe("<none>");
  });

  test("show selectors in query form", () => {
    expect(selectorCell({ matchLabels: { app: "web" } })).toBe("app=web");
    expect(selectorCell({})).toBe("<none>");
    expect(selectorCell({ matchExpressions: [{ key: "a", operator: "Near" }] })).toBe("<error>");
  });
});
