/** Decides which names a definition gets, and the conditions that report it. Names are unique within a group. */
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionStatus,
} from "../../../api/generated/types/apiextensions-v1.ts";
import { jsonEqual } from "../../../api/patch/json-equal.ts";
import { quoted } from "../../../api/values/message-text.ts";
import { findBundleMistake } from "../../../resources/certificates/ca-bundle.ts";
import { findApproval } from "../../../resources/definitions/custom-resource-definition-approval.ts";

type Names = CustomResourceDefinitionNames;
type Condition = CustomResourceDefinitionCondition;

/** Names in use by other definitions of the group. */
export interface TakenNames {
  /** Plural, singular and short names. */
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

export function takenNames(accepted: Iterable<Names>): TakenNames {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { plural, singular = "", shortNames = [], kind, listKind = "" } of accepted) {
    for (const name of [plural, singular, ...shortNames]) resources.add(name);
    for (const name of [kind, listKind]) kinds.add(name);
  }
  return { resources, kinds };
}

/** Returns the wanted status, or the present one if it is the same. `now` is formatted like the API's times. */
export function plannedStatus(
  definition: CustomResourceDefinition,
  taken: TakenNames,
  now: string,
): CustomResourceDefinitionStatus {
  const { status } = definition;
  const { acceptedNames, condition } = judge(definition, taken);
  const conditions = withConditions(status.conditions, wanted(definition, condition), now);
  if (jsonEqual(acceptedNames, status.acceptedNames) && conditions === status.conditions) return status;
  return { ...status, acceptedNames, conditions };
}

/** Checked in this order. The last conflict determines the condition. */
const RULES: readonly {
  readonly field: "plural" | "singular" | "kind" | "listKind";
  readonly reason: string;
  readonly among: keyof TakenNames;
}[] = [
  { field: "plural", reason: "PluralConflict", among: "resources" },
  { field: "singular", reason: "SingularConflict", among: "resources" },
  { field: "kind", reason: "KindConflict", among: "kinds" },
  { field: "listKind", reason: "ListKindConflict", among: "kinds" },
];

interface Judgement {
  readonly acceptedNames: Names;
  readonly condition: Condition;
}

function judge({ spec, status }: CustomResourceDefinition, taken: TakenNames): Judgement {
  const { names } = spec;
  const accepted: Record<string, unknown> = { ...status.acceptedNames };
  let condition: Condition = {
    type: "NamesAccepted",
    status: "True",
    reason: "NoConflicts",
    message: "no conflicts found",
  };
  const refuse = (reason: string, message: string): void => {
    condition = { type: "NamesAccepted", status: "False", reason, message };
  };
  for (const { field, reason, among } of RULES) {
    const name = names[field] ?? "";
    if (name !== status.acceptedNames[field] && taken[among].has(name)) refuse(reason, inUse(name));
    else accepted[field] = name;
    if (field === "singular") judgeShortNames();
  }
  function judgeShortNames(): void {
    const own = [...(status.acceptedNames.shortNames ?? []), names.plural, names.singular ?? ""];
    const used = (names.shortNames ?? []).filter((name) => !own.includes(name) && taken.resources.has(name));
    if (used.length === 0) accepted["shortNames"] = names.shortNames;
    else refuse("ShortNamesConflict", listed(used.map(inUse)));
  }
  accepted["categories"] = names.categories;
  for (const [key, value] of Object.entries(accepted)) if (value === undefined) delete accepted[key];
  return { acceptedNames: accepted as Names, condition };
}

function inUse(name: string): string {
  return `${quoted(name)} is already in use`;
}

function listed(texts: readonly string[]): string {
  return texts.length === 1 ? texts.join("") : `[${texts.join(", ")}]`;
}

function wanted(definition: CustomResourceDefinition, names: Condition): readonly Condition[] {
  const established = definition.status.conditions.find(({ type }) => type === "Established");
  const approval = approvalCondition(definition);
  const bundle = findBundleMistake(definition.spec.conversion?.webhook?.clientConfig?.caBundle);
  const next = bundle === undefined ? establishedCondition(established, names) : unsafe(established, bundle);
  return [names, next, ...(approval === undefined ? [] : [approval])];
}

/** An established kind stays established, even if it loses a name. */
function establishedCondition(present: Condition | undefined, names: Condition): Condition {
  if (present?.status === "True") return present;
  if (names.status === "True")
    return {
      type: "Established",
      status: "True",
      reason: "InitialNamesAccepted",
      message: "the initial names have been accepted",
    };
  return {
    type: "Established",
    status: "False",
    reason: "NotAccepted",
    message: "not all names are accepted",
  };
}

/** Condition of a kind whose objects cannot be converted. An established kind stays established here, too. */
function unsafe(present: Condition | undefined, mistake: string): Condition {
  if (present?.status === "True") return present;
  return {
    type: "Established",
    status: "False",
    reason: "InvalidCABundle",
    message: `spec.conversion.webhook.clientConfig.caBundle: Invalid value: ${mistake}`,
  };
}

const APPROVAL_REASONS = {
  approved: ["True", "ApprovedAnnotation"],
  bypassed: ["False", "UnapprovedAnnotation"],
  missing: ["False", "MissingAnnotation"],
  invalid: ["False", "InvalidAnnotation"],
} as const;

function approvalCondition(definition: CustomResourceDefinition): Condition | undefined {
  const approval = findApproval(definition);
  if (approval === undefined) return undefined;
  const [status, reason] = APPROVAL_REASONS[approval.state];
  return { type: "KubernetesAPIApprovalPolicyConformant", status, reason, message: approval.text };
}

/** Returns the same list if it already contains all. A transition time changes only with the status. */
export function withConditions(
  present: readonly Condition[],
  wanted: readonly Condition[],
  now: string,
): readonly Condition[] {
  const next = [...present];
  for (const condition of wanted) {
    const at = next.findIndex(({ type }) => type === condition.type);
    const old = next[at];
    if (old !== undefined && isSame(old, condition)) continue;
    const lastTransitionTime = old?.status === condition.status ? (old.lastTransitionTime ?? now) : now;
    const made = { ...condition, lastTransitionTime };
    if (at < 0) next.push(made);
    else next[at] = made;
  }
  const isUnchanged =
    next.length === present.length && next.every((condition, at) => condition === present[at]);
  return isUnchanged ? present : next;
}

function isSame(left: Condition, right: Condition): boolean {
  return left.status === right.status && left.reason === right.reason && left.message === right.message;
}
