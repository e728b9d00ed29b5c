/** Warns about existing pods that violate a namespace's stricter new level. The pods keep running. */
import type { Pod } from "../../../../../api/generated/types/core-v1.ts";
import type { PodLike } from "./check.ts";
import { reasonText, violationsOf } from "./evaluation.ts";
import { policyText } from "./policy.ts";
import type { LevelVersion } from "./policy.ts";

/** Upstream's bounds on the number of checked pods and on the duration. */
const PODS_MAX = 3000;
const TIME_MAX_MS = 1000;

export interface Reviewed {
  readonly namespace: string;
  /** Each pod is decoded on demand, so that skipped pods cost little. */
  readonly pods: Iterable<() => Pod>;
  readonly isExempt: (pod: Pod) => boolean;
  /** Adds what the checks need beside the pod. */
  readonly inspect: (pod: Pod) => PodLike;
  /** Monotonic clock in milliseconds. */
  readonly elapsed: () => number;
}

/** Warnings for the client; empty if all pods comply. */
export function reviewNamespace(
  { namespace, pods, isExempt, inspect, elapsed }: Reviewed,
  policy: LevelVersion,
): readonly string[] {
  const findings = new Map<string, Finding>();
  const end = elapsed() + TIME_MAX_MS;
  let total = 0;
  let checked = 0;
  for (const read of pods) {
    total += 1;
    if (checked >= PODS_MAX || elapsed() > end) continue;
    checked += 1;
    const pod = read();
    if (!isExempt(pod)) note(pod, reasonText(violationsOf(inspect(pod), policy)), findings);
  }
  return [
    ...(checked < total
      ? [`new PodSecurity enforce level only checked against the first ${checked} of ${total} existing pods`]
      : []),
    ...(findings.size > 0
      ? [
          `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${policyText(policy)}"`,
        ]
      : []),
    ...[...findings].map(findingText).toSorted(),
  ];
}

interface Finding {
  /** The first pod by name with this violation. */
  readonly pod: string;
  readonly count: number;
}

function note({ metadata }: Pod, reason: string, findings: Map<string, Finding>): void {
  if (reason === "") return;
  const known = findings.get(reason);
  const pod = known === undefined || metadata.name < known.pod ? metadata.name : known.pod;
  findings.set(reason, { pod, count: (known?.count ?? 0) + 1 });
}

function findingText([reason, { pod, count }]: readonly [string, Finding]): string {
  if (count === 1) return `${pod}: ${reason}`;
  const others = count === 2 ? "1 other pod" : `${count - 1} other pods`;
  return `${pod} (and ${others}): ${reason}`;
}
