import { expect, test } from "vitest";
import { builtInLoops } from "./loops.ts";
import { admissionForLoops } from "./needed-loops.ts";

const NEEDED = [
  "serviceaccount-controller",
  "node-controller",
  "pvc-protection-controller",
  "pv-protection-controller",
  "volumeattributesclass-protection-controller",
];

test("plugins are on when the built-in loops that they need run", () => {
  expect(() => builtInLoops(NEEDED)).not.toThrow();
  expect(admissionForLoops(NEEDED)).toEqual({ disabled: [] });
  expect(admissionForLoops("all")).toEqual({ disabled: [] });
});

test("plugins are off when a loop that they need does not run", () => {
  expect(admissionForLoops("none").disabled).toEqual([
    "ServiceAccount",
    "TaintNodesByCondition",
    "StorageObjectInUseProtection",
  ]);
  expect(admissionForLoops(["serviceaccount-controller", "pvc-protection-controller"]).disabled).toEqual([
    "TaintNodesByCondition",
    "StorageObjectInUseProtection",
  ]);
  expect(admissionForLoops("all", { disabled: ["Priority"] })).toEqual({ disabled: ["Priority"] });
});

test("an unknown plugin is refused", () => {
  expect(() => admissionForLoops("all", { enabled: ["Nothing"] })).toThrow(
    'unknown admission plugin "Nothing"',
  );
});
