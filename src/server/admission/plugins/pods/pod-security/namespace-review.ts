/** What becomes of the pods that a namespace has when it shall be stricter: nothing, but somebody should know. */
import type { Pod } from "../../../../../api/generated/types/core-v1.ts";
import { reasonText, violationsOf } from "./evaluation.ts";
import { policyText } from "./policy.ts";
import type { LevelVersion } from "./policy.ts";

/** As upstream's: more are not looked at, and not for longer. */
const PODS_MAX = 3000;
const TIME_MAX_MS = 1000;

export interface Reviewed {
  readonly namespace: string;
  /** Read one by one: what is not looked at costs little. */
  readonly pods: Iterable<() => Pod>;
  readonly isExempt: (pod: Pod) => boolean;
  /** Milliseconds of a clock that only goes forward. */
  readonly elapsed: () => number;
}

/** The warnings; none when all pods are as they should be. */
export function reviewNamespace(
  { namespace, pods, isExempt, elapsed }: Reviewed,
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
    if (!isExempt(pod)) note(pod, reasonText(violationsOf(pod, policy)), findings);
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
  /** The first by name of all that break the same. */
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
