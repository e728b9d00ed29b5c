/** LimitRanger: sets the default resources of containers and enforces the namespace's limits on pods and claims. */
import type { LimitRange, PersistentVolumeClaim, Pod } from "../../../../api/generated/types/core-v1.ts";
import {
  claimLimitProblems,
  podLimitProblems,
  withContainerDefaults,
} from "../../../../resources/core/limit-range-limits.ts";
import { kindPrefix } from "../../../objects/lister.ts";
import { definePlugin } from "../../plugin.ts";
import type { AdmissionRequest } from "../../plugin.ts";
import { refusal } from "../../refusal.ts";

const LIMIT_RANGES = kindPrefix<LimitRange>("limitranges");
const ANNOTATION = "kubernetes.io/limit-ranger";

export const limitRanger = definePlugin<Pod | PersistentVolumeClaim>({
  name: "LimitRanger",
  interests: [
    { resources: ["pods", "persistentvolumeclaims"], operations: ["CREATE"] },
    { resources: ["pods/resize", "persistentvolumeclaims"], operations: ["UPDATE"] },
  ],

  mutate(draft, request) {
    if (draft.kind !== "Pod" || request.operation !== "CREATE") return;
    for (const range of rangesOf(request)) {
      const { spec, notes } = withContainerDefaults(draft.spec, range);
      if (notes.length === 0) continue;
      draft.spec = spec;
      const note = `LimitRanger plugin set: ${notes.join("; ")}`;
      draft.metadata.annotations = { ...draft.metadata.annotations, [ANNOTATION]: note };
    }
  },

  validate(object, request) {
    if (object.metadata.deletionTimestamp !== undefined) return;
    for (const range of rangesOf(request)) {
      const problems =
        object.kind === "Pod" ? podLimitProblems(object, range) : claimLimitProblems(object, range);
      if (problems.length > 0) throw refusal(request, listText(problems));
    }
  },
});

function rangesOf({ memory, namespace }: AdmissionRequest): readonly LimitRange[] {
  return memory.list(LIMIT_RANGES, namespace);
}

/** Each problem once; in brackets if there are several. */
function listText(problems: readonly string[]): string {
  const unique = [...new Set(problems)];
  return unique.length === 1 ? unique.join("") : `[${unique.join(", ")}]`;
}
