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

test("plugins take part when the loops that they count on run, and those are built-in loops", () => {
  expect(() => builtInLoops(NEEDED)).not.toThrow();
  expect(admissionBeside(NEEDED)).toEqual({ disabled: [] });
  expect(admissionBeside("all")).toEqual({ disabled: [] });
});

test("plugins take no part beside loops that would not finish what they begin", () => {
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

test("a plugin that there is not is refused", () => {
  expect(() => admissionBeside("all", { enabled: ["Nothing"] })).toThrow(
    'unknown admission plugin "Nothing"',
  );
});
