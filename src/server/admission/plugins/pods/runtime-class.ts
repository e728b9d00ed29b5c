/** RuntimeClass: sets a pod's overhead, node selector and tolerations from its RuntimeClass. */
import type { Pod, PodSpec, Toleration } from "../../../../api/generated/types/core-v1.ts";
import type { RuntimeClass } from "../../../../api/generated/types/node-v1.ts";
import { jsonEqual } from "../../../../api/patch/json-equal.ts";
import type { Draft } from "../../../../resources/rules/kind-rules.ts";
import { ownValue } from "../../../../resources/rules/value-rules.ts";
import { kindPrefix } from "../../../objects/lister.ts";
import { definePlugin } from "../../plugin.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../../plugin.ts";
import { refusal } from "../../refusal.ts";

const CLASSES = kindPrefix<RuntimeClass>("runtimeclasses");
const MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
const UNFOUNDED = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";

/** Annotation of pods that their node runs on its own account. */
const MIRROR = "kubernetes.io/config.mirror";

/** Pods without a RuntimeClass get the default, if there is one. */
export function runtimeClass(defaultName: string | undefined): AdmissionPlugin {
  return definePlugin<Pod>({
    name: "RuntimeClass",
    interests: [{ resources: ["pods"], operations: ["CREATE"] }],

    mutate({ metadata, spec }, request) {
      const isMirror = ownValue(metadata.annotations, MIRROR) !== undefined;
      if (defaultName !== undefined && !isMirror) spec.runtimeClassName ??= defaultName;
      applyClass(spec, request);
    },

    validate({ spec }, request) {
      if (spec.runtimeClassName === undefined && spec.overhead === undefined) return;
      const overhead = classOf(spec, request)?.overhead?.podFixed;
      const given = spec.overhead ?? {};
      if (overhead === undefined && Object.keys(given).length > 0) throw refusal(request, UNFOUNDED);
      if (overhead !== undefined && !jsonEqual(given, overhead)) throw refusal(request, MISMATCH);
    },
  });
}

function applyClass(spec: Draft<PodSpec>, request: AdmissionRequest): void {
  const found = classOf(spec, request);
  if (found === undefined) return;
  const overhead = found.overhead?.podFixed;
  if (overhead !== undefined) {
    if (spec.overhead !== undefined && !jsonEqual(spec.overhead, overhead)) throw refusal(request, MISMATCH);
    spec.overhead = { ...overhead };
  }
  applyScheduling(spec, found, request);
}

function classOf(
  { runtimeClassName }: Pick<PodSpec, "runtimeClassName">,
  request: AdmissionRequest,
): RuntimeClass | undefined {
  if (runtimeClassName === undefined) return undefined;
  const found = request.memory.find(CLASSES, runtimeClassName);
  if (found === undefined)
    throw refusal(request, `pod rejected: RuntimeClass "${runtimeClassName}" not found`);
  return found;
}

function applyScheduling(
  spec: Draft<PodSpec>,
  { scheduling }: RuntimeClass,
  request: AdmissionRequest,
): void {
  const { nodeSelector, tolerations = [] } = scheduling ?? {};
  if (nodeSelector !== undefined) {
    refuseConflicts(nodeSelector, spec.nodeSelector, request);
    spec.nodeSelector = { ...spec.nodeSelector, ...nodeSelector };
  }
  if (scheduling !== undefined) spec.tolerations = widest([...(spec.tolerations ?? []), ...tolerations]);
}

type Labels = Readonly<Record<string, string>>;

function refuseConflicts(wanted: Labels, given: Labels | undefined, request: AdmissionRequest): void {
  for (const [key, value] of Object.entries(wanted)) {
    const own = ownValue(given, key);
    if (own === undefined || own === value) continue;
    const why = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`;
    throw refusal(request, why);
  }
}

/** Far more tolerations than pods have. Comparing each pair takes a minute for tens of thousands. */
const COMPARED_MAX = 100;

/**
 * Removes tolerations that another one includes; of equal ones the first stays. A longer list is returned as it is,
 * which means the same.
 */
function widest(all: readonly Toleration[]): Draft<Toleration>[] {
  if (all.length > COMPARED_MAX) return all.map((each) => ({ ...each }));
  const kept: Toleration[] = [];
  for (const [i, each] of all.entries()) {
    const isKnown = kept.some((other) => includes(other, each));
    const isIncluded = all.slice(i + 1).some((other) => !jsonEqual(other, each) && includes(other, each));
    if (!isKnown && !isIncluded) kept.push(each);
  }
  return kept.map((each) => ({ ...each }));
}

/** Whether `wide` tolerates every taint that `other` tolerates. */
function includes(wide: Toleration, other: Toleration): boolean {
  if (jsonEqual(wide, other)) return true;
  if (!hasSameKey(wide, other) || !hasSameEffect(wide, other)) return false;
  if (wide.operator === "Exists") return true;
  const isEqual = wide.operator === undefined || wide.operator === "Equal";
  return isEqual && other.operator === "Equal" && (wide.value ?? "") === (other.value ?? "");
}

/** An empty key with `Exists` matches every key. */
function hasSameKey(wide: Toleration, other: Toleration): boolean {
  return (wide.key ?? "") === (other.key ?? "") || ((wide.key ?? "") === "" && wide.operator === "Exists");
}

/** An unset effect matches every effect. A toleration with a time limit does not include one with a longer limit. */
function hasSameEffect(wide: Toleration, other: Toleration): boolean {
  if (wide.effect === undefined) return true;
  if (wide.effect !== other.effect) return false;
  const { effect, tolerationSeconds: longest } = wide;
  if (effect !== "NoExecute" || longest === undefined) return true;
  return other.tolerationSeconds !== undefined && other.tolerationSeconds <= longest;
}
