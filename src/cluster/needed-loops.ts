/** Admission plugins count on loops that finish what they begin; where such a loop does not run they would only be in the way. */
import type { AdmissionOptions } from "../server/admission/plugins.ts";
import type { LoopChoice } from "./loops.ts";

/** Without accounts no pod is let in, without a look at nodes none is ever free of its first taint, and held storage never goes. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  ServiceAccount: ["serviceaccount-controller"],
  TaintNodesByCondition: ["node-controller"],
  StorageObjectInUseProtection: ["pvc-protection-controller", "pv-protection-controller"],
};

/** What is left out of admission beside these loops, and besides what was asked for. */
export function admissionBeside(
  loops: LoopChoice,
  { disabled = [] }: AdmissionOptions = {},
): AdmissionOptions {
  if (loops === "all") return { disabled };
  const running: readonly string[] = loops === "none" ? [] : loops;
  const idle = Object.entries(NEEDED).filter(([, needed]) => needed.some((name) => !running.includes(name)));
  return { disabled: [...disabled, ...idle.map(([plugin]) => plugin)] };
}
