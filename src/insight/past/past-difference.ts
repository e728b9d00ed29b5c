/** The fields in which an object differs between two moments, as text. */
import type { ApiObject } from "../../api/api-object.ts";
import { fieldChanges } from "../../api/causes/field-changes.ts";
import { valueText } from "../text/change-text.ts";

/** Fields that are shown. */
const FIELDS_MAX = 500;

export interface Side {
  readonly title: string;
  /** Undefined when it did not exist. */
  readonly object: ApiObject | undefined;
}

/** Empty when nothing differs. Values of Secrets are not shown. */
export function differenceText(before: Side, after: Side): string {
  const isSecret = (after.object ?? before.object)?.kind === "Secret";
  const changes = fieldChanges(before.object, after.object, FIELDS_MAX);
  if (changes.length === 0) return "";
  const lines = changes.map(({ path, before: left, after: right }) => {
    if (isSecret) return `  ${path}: changed (secret)\n`;
    return `  ${path}: ${valueText(left)} → ${valueText(right)}\n`;
  });
  return `--- ${titleOf(before)}\n+++ ${titleOf(after)}\n${lines.join("")}`;
}

function titleOf({ title, object }: Side): string {
  return object === undefined ? `${title} (did not exist)` : title;
}
