/** Computes the conditions of a namespace that is being emptied. Pure. */
import type { NamespaceCondition } from "../../api/generated/types/core-v1.ts";
import { timeText } from "../../api/values/time.ts";
import type { ContentReport } from "./content.ts";

interface Verdict {
  readonly type: string;
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

/** Returns all five conditions from the first pass on; False means no problem. `lastTransitionTime` changes with the status only. */
export function planConditions(
  conditions: readonly NamespaceCondition[] | undefined,
  report: ContentReport,
  now: number,
): readonly NamespaceCondition[] {
  const verdicts = verdictsOf(report);
  const others = (conditions ?? []).filter(({ type }) => !verdicts.some((verdict) => verdict.type === type));
  const time = timeText(now);
  return [...others, ...verdicts.map((verdict) => conditionOf(conditions, verdict, time))];
}

function conditionOf(
  conditions: readonly NamespaceCondition[] | undefined,
  verdict: Verdict,
  time: string,
): NamespaceCondition {
  const known = conditions?.find(({ type }) => type === verdict.type);
  const lastTransitionTime = known?.status === verdict.status ? (known.lastTransitionTime ?? time) : time;
  return { ...verdict, lastTransitionTime };
}

function verdictsOf(report: ContentReport): readonly Verdict[] {
  return [
    verdict("NamespaceDeletionDiscoveryFailure", discoveryText(report), {
      bad: "DiscoveryFailed",
      good: ["ResourcesDiscovered", "All resources successfully discovered"],
    }),
    verdict("NamespaceDeletionGroupVersionParsingFailure", undefined, {
      bad: "GroupVersionParsingFailed",
      good: ["ParsedGroupVersions", "All legacy kube types successfully parsed"],
    }),
    verdict("NamespaceDeletionContentFailure", failureText(report), {
      bad: "ContentDeletionFailed",
      good: ["ContentDeleted", "All content successfully deleted, may be waiting on finalization"],
    }),
    verdict("NamespaceContentRemaining", remainingText(report), {
      bad: "SomeResourcesRemain",
      good: ["ContentRemoved", "All content successfully removed"],
    }),
    verdict("NamespaceFinalizersRemaining", finalizersText(report), {
      bad: "SomeFinalizersRemain",
      good: ["ContentHasNoFinalizers", "All content-preserving finalizers finished"],
    }),
  ];
}

interface Words {
  readonly bad: string;
  readonly good: readonly [reason: string, message: string];
}

function verdict(type: string, problem: string | undefined, { bad, good }: Words): Verdict {
  if (problem !== undefined) return { type, status: "True", reason: bad, message: problem };
  const [reason, message] = good;
  return { type, status: "False", reason, message };
}

function discoveryText({ undiscovered }: ContentReport): string | undefined {
  if (undiscovered.size === 0) return undefined;
  const whole = undiscovered.get("");
  if (whole !== undefined) return whole.message;
  const groups = [...undiscovered].map(([group, { message }]) => `${group}: ${message}`).toSorted();
  return `Discovery failed for some groups, ${String(groups.length)} failing: unable to retrieve the complete list of server APIs: ${groups.join(", ")}`;
}

function failureText({ failures }: ContentReport): string | undefined {
  if (failures.length === 0) return undefined;
  const messages = failures.map(({ message }) => message).toSorted();
  return `Failed to delete all resource types, ${String(failures.length)} remaining: ${messages.join(", ")}`;
}

function remainingText({ remaining }: ContentReport): string | undefined {
  if (remaining.size === 0) return undefined;
  const counts = [...remaining].map(([name, count]) => `${name} has ${String(count)} resource instances`);
  return `Some resources are remaining: ${counts.toSorted().join(", ")}`;
}

function finalizersText({ finalizers }: ContentReport): string | undefined {
  if (finalizers.size === 0) return undefined;
  const counts = [...finalizers].map(([name, count]) => `${name} in ${String(count)} resource instances`);
  return `Some content in the namespace has finalizers remaining: ${counts.toSorted().join(", ")}`;
}
