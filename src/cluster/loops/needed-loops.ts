/** Turns off admission plugins whose loop does not run: without that loop their work is never finished and blocks objects. */
import { checkPluginChoice } from "../../server/admission/plugin-names.ts";
import type { AdmissionOptions } from "../../server/admission/plugins.ts";
import type { LoopChoice } from "./loops.ts";

/**
 * Loops that each plugin needs. Otherwise pods are refused for want of an account, nodes keep their first taint, and
 * storage in use is never deleted.
 */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  ServiceAccount: ["serviceaccount-controller"],
  TaintNodesByCondition: ["node-controller"],
  StorageObjectInUseProtection: [
    "pvc-protection-controller",
    "pv-protection-controller",
    "volumeattributesclass-protection-controller",
  ],
};

/** Adds the plugins to disable beside these loops to the user's choice. Throws for unknown plugin names. */
export function admissionForLoops(
  loops: LoopChoice,
  { disabled = [], ...others }: AdmissionOptions = {},
): AdmissionOptions {
  checkPluginChoice({ ...others, disabled });
  if (loops === "all") return { ...others, disabled };
  const running: readonly string[] = loops === "none" ? [] : loops;
  const idle = Object.entries(NEEDED).filter(([, needed]) => needed.some((name) => !running.includes(name)));
  return { ...others, disabled: [...disabled, ...idle.map(([plugin]) => plugin)] };
}
