/**
 * Follows the causes of a change back to its root: the pass that made it, the change that woke the pass, the pass that
 * made that change, and so on until a write without a pass.
 */
import type {
  Change,
  ChangePass,
  ChangeReason,
  ObjectReference,
  ShownObject,
} from "../../api/causes/change.ts";
import { authorText, deedText, isDeletionMark, objectText } from "../text/change-text.ts";
import { clockText } from "../text/duration-text.ts";
import type { TreeNode } from "../text/tree-text.ts";
import type { ChangeReader } from "./read-changes.ts";

/** Hops back. A longer chain says that it goes on. */
const HOPS_MAX = 8;

/** A change, and the one that caused it. */
export interface CauseLink {
  readonly change: Change;
  readonly cause: CauseLink | CauseEnd;
}

/** Why the chain ends: `root` is a write without a pass, `unasked` one of a pass that nothing woke. */
export type CauseEnd = "root" | "unasked" | "too long" | "not remembered" | ChangeReason;

export async function causeChain(reader: ChangeReader, change: Change, hops = HOPS_MAX): Promise<CauseLink> {
  const { pass } = change;
  if (pass === undefined)
    return { change, cause: change.author?.user === undefined ? "not remembered" : "root" };
  if (hops === 0) return { change, cause: "too long" };
  const found = await findWaker(reader, change, pass);
  if (found === undefined && pass.reasonCount === 0) return { change, cause: "unasked" };
  if (found === undefined) return { change, cause: pass.reasons[0] ?? "not remembered" };
  return { change, cause: await causeChain(reader, found, hops - 1) };
}

/** The change that woke the pass. A deletion explains more than a status, and a change by another author more than its own. */
async function findWaker(reader: ChangeReader, made: Change, pass: ChangePass): Promise<Change | undefined> {
  const found: Change[] = [];
  for (const { object, resourceVersion, deleted } of objectReasons(pass)) {
    const { items } = await reader.of(object);
    const until = deleted === true ? made.revision : (resourceVersion ?? made.revision);
    const waker = wakerIn(items, { until, of: made });
    if (waker !== undefined) found.push(waker);
  }
  return found.toSorted((a, b) => weightOf(b) - weightOf(a) || Number(b.revision) - Number(a.revision))[0];
}

type ObjectReason = ChangeReason & { readonly object: ObjectReference };

function objectReasons({ reasons, subject }: ChangePass): readonly ObjectReason[] {
  const visible = reasons.filter((each): each is ObjectReason => isVisible(each.object));
  if (visible.length > 0 || !isVisible(subject)) return visible;
  // A timer or a retry woke the pass: the object itself says why it exists.
  return [{ type: "Object", object: subject }];
}

function isVisible(object: ShownObject | undefined): object is ObjectReference {
  return object !== undefined && !("hidden" in object);
}

/** The newest change up to a revision that another author made and that asks for something. */
function wakerIn(
  changes: readonly Change[],
  { until, of }: { readonly until: string; readonly of: Change },
): Change | undefined {
  const before = changes.filter(
    ({ revision }) => Number(revision) <= Number(until) && Number(revision) < Number(of.revision),
  );
  const others = before.filter(({ author }) => author?.user !== of.author?.user);
  return others.findLast((change) => weightOf(change) > 0) ?? others.at(-1) ?? before.at(0);
}

/** Deletions explain most, then the desired state, then everything else. */
function weightOf(change: Change): number {
  if (change.operation === "Deleted" || isDeletionMark(change)) return 3;
  if (change.fields?.some(({ path }) => path.startsWith("spec") && path !== "spec.nodeName") === true)
    return 2;
  return change.operation === "Created" ? 1 : 0;
}

/** The chain as a tree, root first. `leaf` is drawn below the last change. */
export function chainTree(link: CauseLink, leaf: readonly TreeNode[]): readonly TreeNode[] {
  const { change, cause } = link;
  const { pass, time } = change;
  const written: TreeNode = {
    text: pass === undefined ? `${authorText(change.author)} ${deedText(change)}` : deedText(change),
    time: clockText(time),
    mark: `rev ${change.revision}`,
    children: leaf,
  };
  if (pass === undefined) return [written];
  const passed: TreeNode = {
    text: passText(change, pass),
    mark: `pass ${shortPass(pass.id)}`,
    children: [written],
  };
  if (typeof cause === "object" && "change" in cause) return chainTree(cause, [passed]);
  return [{ text: endText(cause), children: [passed] }];
}

function passText({ author }: Change, { subject, note }: ChangePass): string {
  const about = subject === undefined ? "" : ` saw ${objectText(subject)}`;
  return `${authorText(author)}${about}${note === undefined ? "" : `, which ${note}`}`;
}

/** `replicaset-controller/3f2a-77` is `77`. */
function shortPass(id: string): string {
  return /-(\d+)$/.exec(id)?.[1] ?? id.slice(id.lastIndexOf("/") + 1).slice(0, 8);
}

function endText(end: CauseEnd): string {
  return typeof end === "string" ? ENDS[end] : reasonText(end);
}

const ENDS = {
  root: "a user",
  unasked: "a controller began it by itself",
  "too long": "older causes are left out",
  "not remembered": "the cause is no longer remembered",
} as const;

function reasonText({ type, attempt, object, resourceVersion }: ChangeReason): string {
  switch (type) {
    case "Timer":
      return "a timer of the controller";
    case "Resync":
      return "a routine check of all objects";
    case "Retry":
      return attempt === undefined ? "a retry" : `retry ${String(attempt)} after a failure`;
    case "Object":
      return isVisible(object)
        ? `${objectText(object)} changed (rev ${resourceVersion ?? "unknown"})`
        : "a hidden object changed";
  }
}
