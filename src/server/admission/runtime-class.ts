/** RuntimeClass: a pod pays for what its runtime needs besides its containers, and goes where that runtime is. */
import type { Pod, PodSpec, Toleration } from "../../api/generated/types/core-v1.ts";
import type { RuntimeClass } from "../../api/generated/types/node-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";
import type { Draft } from "../../resources/kind-rules.ts";
import { ownValue } from "../../resources/value-rules.ts";
import { definePlugin } from "./plugin.ts";
import type { AdmissionRequest } from "./plugin.ts";
import { refusal } from "./refusal.ts";
import { shelf } from "./server-memory.ts";

const CLASSES = shelf<RuntimeClass>("runtimeclasses");
const MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
const UNFOUNDED = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead";

export const runtimeClass = definePlugin<Pod>({
  name: "RuntimeClass",
  interests: [{ resources: ["pods"], operations: ["CREATE"] }],

  mutate({ spec }, request) {
    const found = classOf(spec, request);
    if (found === undefined) return;
    const overhead = found.overhead?.podFixed;
    if (overhead !== undefined) {
      if (spec.overhead !== undefined && !jsonEqual(spec.overhead, overhead))
        throw refusal(request, MISMATCH);
      spec.overhead = { ...overhead };
    }
    applyScheduling(spec, found, request);
  },

  validate({ spec }, request) {
    if (spec.runtimeClassName === undefined && spec.overhead === undefined) return;
    const overhead = classOf(spec, request)?.overhead?.podFixed;
    const given = spec.overhead ?? {};
    if (overhead === undefined && Object.keys(given).length > 0) throw refusal(request, UNFOUNDED);
    if (overhead !== undefined && !jsonEqual(given, overhead)) throw refusal(request, MISMATCH);
  },
});

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
  const { tolerations: own = [] } = spec;
  const added = tolerations.filter((each) => !own.some((known) => jsonEqual(known, each)));
  if (added.length > 0) spec.tolerations = [...own, ...added.map(copyOf)];
}

type Labels = Readonly<Record<string, string>>;

function refuseConflicts(wanted: Labels, given: Labels | undefined, request: AdmissionRequest): void {
  for (const [key, value] of Object.entries(wanted)) {
    const own = ownValue(given, key);
    if (own === undefined || own === value) continue;
    const why = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}, pod.spec.nodeSelector[${key}] = ${own}`;
    throw refusal(request, why);
  }
}

function copyOf(toleration: Toleration): Draft<Toleration> {
  return { ...toleration };
}
