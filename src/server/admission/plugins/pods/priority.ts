/** Priority: sets a pod's priority from its PriorityClass or from the cluster's default class. */
import type { Pod } from "../../../../api/generated/types/core-v1.ts";
import type { PriorityClass } from "../../../../api/generated/types/scheduling-v1.ts";
import { kindPrefix } from "../../../objects/lister.ts";
import { definePlugin } from "../../plugin.ts";
import type { AdmissionRequest } from "../../plugin.ts";
import { refusal } from "../../refusal.ts";

const CLASSES = kindPrefix<PriorityClass>("priorityclasses");

export const priority = definePlugin<Pod | PriorityClass>({
  name: "Priority",
  interests: [{ resources: ["pods", "priorityclasses.scheduling.k8s.io"], operations: ["CREATE", "UPDATE"] }],

  mutate(draft, request) {
    if (draft.kind === "PriorityClass") return;
    const { spec } = draft;
    if (request.operation === "UPDATE") return keep(spec, (request.previous as Pod | undefined)?.spec);
    const { name, value, preemptionPolicy } = standingOf(spec, request);
    if (spec.priority !== undefined && spec.priority !== value) {
      const why = `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`;
      throw refusal(request, why);
    }
    if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy) {
      const why = `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`;
      throw refusal(request, why);
    }
    if (name !== "") spec.priorityClassName = name;
    spec.priority = value;
    spec.preemptionPolicy = preemptionPolicy;
  },

  /** Only one class may be the default. */
  validate(object, request) {
    if (object.kind !== "PriorityClass" || object.globalDefault !== true) return;
    const known = findDefault(request.memory.list(CLASSES))?.metadata.name;
    if (known === undefined || (request.operation === "UPDATE" && known === object.metadata.name)) return;
    throw refusal(request, `PriorityClass ${known} is already marked as default. Only one default can exist`);
  },
});

type Importance = { -readonly [Key in "priority" | "preemptionPolicy"]?: Pod["spec"][Key] };

/** An update without priority keeps the previous one, so that clients may send their original manifest. */
function keep(spec: Importance, previous: Importance | undefined): void {
  if (spec.priority === undefined && previous?.priority !== undefined) spec.priority = previous.priority;
  if (spec.preemptionPolicy === undefined && previous?.preemptionPolicy !== undefined)
    spec.preemptionPolicy = previous.preemptionPolicy;
}

interface Standing {
  readonly name: string;
  readonly value: number;
  readonly preemptionPolicy: NonNullable<Pod["spec"]["preemptionPolicy"]>;
}

function standingOf({ priorityClassName = "" }: Pod["spec"], request: AdmissionRequest): Standing {
  const { memory } = request;
  if (priorityClassName === "") return standing(findDefault(memory.list(CLASSES)));
  const found = memory.find(CLASSES, priorityClassName);
  if (found === undefined)
    throw refusal(request, `no PriorityClass with name ${priorityClassName} was found`);
  return standing(found);
}

function standing(found: PriorityClass | undefined): Standing {
  return {
    name: found?.metadata.name ?? "",
    value: found?.value ?? 0,
    preemptionPolicy: found?.preemptionPolicy === "Never" ? "Never" : "PreemptLowerPriority",
  };
}

/** The default class. Of several, the one with the lowest value, so that no pod gets a high priority by mistake. */
function findDefault(classes: readonly PriorityClass[]): PriorityClass | undefined {
  let lowest: PriorityClass | undefined;
  for (const each of classes) {
    if (each.globalDefault === true && (lowest === undefined || each.value < lowest.value)) lowest = each;
  }
  return lowest;
}
