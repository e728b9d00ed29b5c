/** Checks a pod against a level of the Pod Security Standards, as of a Kubernetes version. */
import { containersOf } from "../pod-containers.ts";
import { BASELINE_CHECKS } from "./baseline-checks.ts";
import type { Check, CheckPod, PodLike, Violation } from "./check.ts";
import type { Level, LevelVersion } from "./policy.ts";
import { PROFILE_CHECKS } from "./profile-checks.ts";
import { RESTRICTED_CHECKS } from "./restricted-checks.ts";

/** Sorted by id, the order in which violations are reported. */
const BASELINE: readonly Check[] = [...BASELINE_CHECKS, ...PROFILE_CHECKS].toSorted((one, other) =>
  one.id < other.id ? -1 : 1,
);

/** The latest version that changed a check. Later versions use the same checks. */
const NEWEST = Math.max(
  ...[...BASELINE, ...RESTRICTED_CHECKS].flatMap(({ versions }) => [...versions.keys()]),
);

/** Keyed by level and version. Bounded: at most one entry for each level and each version up to the newest. */
const known = new Map<string, readonly CheckPod[]>();

/** Violations in report order; empty if the pod complies. */
export function violationsOf(pod: PodLike, policy: LevelVersion): readonly Violation[] {
  if (policy.level === "privileged") return [];
  const inspected = { ...pod, containers: containersOf(pod.spec) };
  const found: Violation[] = [];
  for (const check of checksOf(policy)) {
    const violation = check(inspected);
    if (violation !== undefined) found.push(violation);
  }
  return found;
}

function checksOf({ level, version }: LevelVersion): readonly CheckPod[] {
  const minor = Math.min(version.minor, NEWEST);
  const key = `${level}:${minor}`;
  let checks = known.get(key);
  if (checks === undefined) {
    checks = selectChecks(level, minor);
    known.set(key, checks);
  }
  return checks;
}

function selectChecks(level: Level, minor: number): readonly CheckPod[] {
  const restricted = level === "restricted" ? inForce(RESTRICTED_CHECKS, minor) : [];
  const overridden = new Set(restricted.map(({ overrides }) => overrides));
  const baseline = inForce(BASELINE, minor).filter(({ id }) => !overridden.has(id));
  return [...baseline, ...restricted].map(({ check }) => check);
}

interface CheckInForce {
  readonly id: string;
  readonly overrides: string | undefined;
  readonly check: CheckPod;
}

function inForce(checks: readonly Check[], minor: number): readonly CheckInForce[] {
  return checks.flatMap(({ id, overrides, versions }) => {
    let newest: CheckPod | undefined;
    for (const [since, check] of versions) if (since <= minor) newest = check;
    return newest === undefined ? [] : { id, overrides, check: newest };
  });
}

/** `privileged (container "a" must not set securityContext.privileged=true), runAsUser=0 (…)`. */
export function detailText(violations: readonly Violation[]): string {
  return violations
    .map(({ reason, detail }) => (detail === "" ? reason : `${reason} (${detail})`))
    .join(", ");
}

export function reasonText(violations: readonly Violation[]): string {
  return violations.map(({ reason }) => reason).join(", ");
}
