import { expect, test } from "vitest";
import { builtInLoops } from "./loops.ts";
import { admissionBeside } from "./needed-loops.ts";

const NEEDED = [
  "serviceaccount-controller",
  "node-controller",
  "pvc-protection-controller",
  "pv-protection-controller",
  "volumeattributesclass-protection-controller",
];

test("plugins are on when the built-in loops that they need run", () => {
  expect(() => builtInLoops(NEEDED)).not.toThrow();
  expect(admissionBeside(NEEDED)).toEqual({ disabled: [] });
  expect(admissionBeside("all")).toEqual({ disabled: [] });
});

test("plugins are off when a loop that they need does not run", () => {
  expect(admissionBeside("none").disabled).toEqual([
    "ServiceAccount",
    "TaintNodesByCondition",
    "StorageObjectInUseProtection",
  ]);
  expect(admissionBeside(["serviceaccount-controller", "pvc-protection-controller"]).disabled).toEqual([
    "TaintNodesByCondition",
    "StorageObjectInUseProtection",
  ]);
  expect(admissionBeside("all", { disabled: ["Priority"] })).toEqual({ disabled: ["Priority"] });
});

test("an unknown plugin is refused", () => {
  expect(() => admissionBeside("all", { enabled: ["Nothing"] })).toThrow(
    'unknown admission plugin "Nothing"',
  );
});
