import { expect, test } from "vitest";
import { shapeAt } from "./node-shape.ts";

const DEFAULT = { cpu: "8", memory: "32Gi", "ephemeral-storage": "100Gi", pods: "110" };

test("nodes without shapes have the default capacity", () => {
  expect(shapeAt([], 7)).toEqual({ capacity: DEFAULT, labels: {} });
});

test("nodes get the shapes in turn, and the defaults for omitted resources", () => {
  const shapes = [{ capacity: { cpu: "2" } }, { labels: { zone: "b" } }];

  expect([0, 1, 2].map((index) => shapeAt(shapes, index))).toEqual([
    { capacity: { ...DEFAULT, cpu: "2" }, labels: {} },
    { capacity: DEFAULT, labels: { zone: "b" } },
    { capacity: { ...DEFAULT, cpu: "2" }, labels: {} },
  ]);
});
