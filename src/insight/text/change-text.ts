/** A change in a few words: its author, and which fields went from which value to which. */
import type { Change, ChangeAuthor, ShownFieldChange, ShownObject } from "../../api/causes/change.ts";
import { isBookkeeping } from "./bookkeeping.ts";
import { fitText } from "./text-width.ts";

/** Fields that are shown of one change. */
const FIELDS_SHOWN = 2;
const VALUE_LENGTH = 40;

export function objectText(object: ShownObject): string {
  return "hidden" in object ? "a hidden object" : `${object.kind} ${object.name}`;
}

/** The author as people know it: a controller by its name, a kubelet by its node, a user with the tool. */
export function authorText(author: ChangeAuthor | undefined): string {
  const { user, manager, userAgent = "", command } = author ?? {};
  if (user === undefined) return manager === undefined ? "an unknown user" : `${manager} (user not recorded)`;
  const component = componentText(user);
  if (component !== undefined) return component;
  const tool = command ?? userAgent.split("/", 1)[0];
  return tool === "" || tool === undefined ? user : `${user} (${tool})`;
}

/** Whether a controller, a kubelet or another part of the cluster made the change, and no person. */
export function isComponent(author: ChangeAuthor | undefined): boolean {
  return author?.user !== undefined && componentText(author.user) !== undefined;
}

const COMPONENTS: ReadonlyMap<string, string> = new Map([
  ["system:kube-scheduler", "scheduler"],
  ["system:apiserver", "the API server"],
]);

function componentText(user: string): string | undefined {
  const account = /^system:serviceaccount:[^:]+:(.+)$/.exec(user)?.[1];
  const node = /^system:node:(.+)$/.exec(user)?.[1];
  return account ?? (node === undefined ? COMPONENTS.get(user) : `kubelet on ${node}`);
}

/** The change without its author: `created Pod web`, `set spec.replicas: 1 → 3`. */
export function deedText(change: Change): string {
  const { operation, object, fields } = change;
  const name = objectText(object);
  if (operation === "Created") return `created ${name}`;
  if (operation === "Deleted") return `removed ${name}`;
  if (fields === undefined) return `changed ${name}; its states are no longer kept`;
  if (isDeletionMark(change)) return `deleted ${name}`;
  const node = fields.find(({ path, before }) => path === "spec.nodeName" && before === undefined);
  if (typeof node?.after === "string") return `assigned ${name} to ${node.after}`;
  const shown = notable(fields);
  if (shown.length === 0) return `changed nothing that is shown in ${name}`;
  const texts = shown.slice(0, FIELDS_SHOWN).map(fieldText);
  const rest = shown.length - texts.length;
  return `set ${name} ${texts.join(", ")}${rest === 0 ? "" : ` and ${String(rest)} more`}`;
}

/** Whether the change asked for the deletion of the object. */
export function isDeletionMark({ fields = [] }: Change): boolean {
  return fields.some(({ path, before }) => path === "metadata.deletionTimestamp" && before === undefined);
}

export function fieldText({ path, before, after, withheld }: ShownFieldChange): string {
  if (withheld === "Secret") return `${path} (secret)`;
  if (withheld === "Large") return `${path} (large)`;
  return `${path}: ${valueText(before)} → ${valueText(after)}`;
}

export function valueText(value: unknown): string {
  if (value === undefined) return "none";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return fitText(text, VALUE_LENGTH);
}

/** The telling fields. Times, counters and notes of controllers say little; they are shown only when nothing else changed. */
export function notable(fields: readonly ShownFieldChange[]): readonly ShownFieldChange[] {
  const telling = fields.filter(
    (field) => !/(Time|Timestamp|observedGeneration)$/.test(field.path) && !isBookkeeping(field),
  );
  return telling.length === 0 ? fields : telling;
}
