/** Steps of a pod's life after its creation: its node, its phases, its readiness, its deletion. Pure. */
import type { Change } from "../../api/causes/change.ts";
import { authorText, isDeletionMark } from "../text/change-text.ts";
import { clockText } from "../text/duration-text.ts";
import type { TreeNode } from "../text/tree-text.ts";

/** Steps beyond these are left out in the middle. */
const SHOWN_MAX = 8;

export function podMilestones(changes: readonly Change[]): readonly TreeNode[] {
  const steps = changes.flatMap((change): readonly TreeNode[] => {
    const text = stepText(change);
    return text === undefined ? [] : [{ text, time: clockText(change.time), mark: `rev ${change.revision}` }];
  });
  if (steps.length <= SHOWN_MAX) return steps;
  const left = steps.length - SHOWN_MAX;
  const half = SHOWN_MAX / 2;
  return [...steps.slice(0, half), { text: `${String(left)} more steps` }, ...steps.slice(-half)];
}

function stepText(change: Change): string | undefined {
  if (change.operation === "Created") return undefined;
  const author = authorText(change.author);
  if (change.operation === "Deleted") return `${author} removed it`;
  if (isDeletionMark(change)) return `${author} deleted it`;
  const after = new Map((change.fields ?? []).map((each) => [each.path, each.after]));
  const node = after.get("spec.nodeName");
  if (typeof node === "string") return `${author} ${change.pass?.note ?? `chose ${node}`}`;
  const report = reportText(change);
  return report === undefined ? undefined : `${author} reported ${report}`;
}

/** The phase and the readiness that a kubelet reported: `Running, then Ready`. */
export function reportText({ fields = [] }: Change): string | undefined {
  const after = new Map(fields.map((each) => [each.path, each.after]));
  const reports = [phaseText(after), readinessText(after)].filter((each) => each !== undefined);
  return reports.length === 0 ? undefined : reports.join(", then ");
}

function phaseText(after: ReadonlyMap<string, unknown>): string | undefined {
  const phase = after.get("status.phase");
  return typeof phase === "string" ? phase : undefined;
}

function readinessText(after: ReadonlyMap<string, unknown>): string | undefined {
  const ready =
    after.get("status.conditions[Ready].status") ?? statusIn(after.get("status.conditions[Ready]"));
  if (ready === "True") return "Ready";
  return ready === "False" ? "not Ready" : undefined;
}

function statusIn(condition: unknown): unknown {
  return typeof condition === "object" && condition !== null && "status" in condition
    ? condition.status
    : undefined;
}
