/** Admission plugins count on loops that finish what they begin; where such a loop does not run they would only be in the way. */
import { checkPluginChoice } from "../../server/admission/plugin-names.ts";
import type { AdmissionOptions } from "../../server/admission/plugins.ts";
import type { LoopChoice } from "./loops.ts";

/** Without accounts no pod is let in, without a look at nodes none is ever free of its first taint, and held storage never goes. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  ServiceAccount: ["serviceaccount-controller"],
  TaintNodesByCondition: ["node-controller"],
  StorageObjectInUseProtection: [
    "pvc-protection-controller",
    "pv-protection-controller",
    "volumeattributesclass-protection-controller",
  ],
};

/** What is left out of admission beside these loops, and besides what was asked for. Throws for names of plugins that there are not. */
export function admissionBeside(
  loops: LoopChoice,
  { disabled = [], ...others }: AdmissionOptions = {},
): AdmissionOptions {
  checkPluginChoice({ ...others, disabled });
  if (loops === "all") return { ...others, disabled };
  const running: readonly string[] = loops === "none" ? [] : loops;
  const idle = Object.entries(NEEDED).filter(([, needed]) => needed.some((name) => !running.includes(name)));
  return { ...others, disabled: [...disabled, ...idle.map(([plugin]) => plugin)] };
}
