/** The changes of a cluster as a story: a line for each step that matters. */
import type { Change, ChangeList } from "../../api/causes/change.ts";
import type { Client } from "../../client/client.ts";
import { reportText } from "../causes/pod-milestones.ts";
import { changesPath } from "../causes/read-changes.ts";
import { authorText, deedText, isDeletionMark, objectText } from "../text/change-text.ts";
import { clockText } from "../text/duration-text.ts";
import { oneLine } from "../text/text-width.ts";

const PAGE = 200;

export interface StoryOptions {
  /** Empty for all namespaces. */
  readonly namespace: string;
  /** Revision after which the story begins; undefined for everything that is remembered. */
  readonly after: string | undefined;
}

/** Journalled changes page by page, oldest first. */
export async function* storyPages(
  client: Client,
  { namespace, after }: StoryOptions,
): AsyncGenerator<readonly Change[]> {
  let token = after;
  do {
    const query = { limit: String(PAGE), ...(token !== undefined && { continue: token }) };
    const list = (await client.request({ path: changesPath(namespace), query })) as ChangeList;
    yield list.items;
    token = list.metadata.continue;
  } while (token !== undefined);
}

/** Whether a change is a step of the story, or bookkeeping in between. */
export function isStep(change: Change): boolean {
  const { operation, fields = [] } = change;
  if (operation !== "Updated" || isDeletionMark(change)) return true;
  return fields.some(
    ({ path }) =>
      /^spec\b|^data\b|^status\.phase$/.test(path) || /^status\.conditions\[Ready\]\.status$/.test(path),
  );
}

export function stepText(change: Change): string {
  const { time, revision, object, author, pass } = change;
  const place = object.namespace === "" ? "" : `${object.namespace}: `;
  const note = pass?.note === undefined ? "" : ` (${pass.note})`;
  const text = `${place}${authorText(author)} ${storyText(change)}${note}`;
  return `${clockText(time).padEnd(12)}  ${`rev ${revision}`.padEnd(9)}  ${oneLine(text)}\n`;
}

/** A kubelet writes a dozen fields for one step of a pod. */
function storyText(change: Change): string {
  const { object, operation } = change;
  const report = object.kind === "Pod" && operation === "Updated" ? reportText(change) : undefined;
  const isReport = report !== undefined && !isDeletionMark(change);
  return isReport ? `reported ${objectText(object)} ${report}` : deedText(change);
}
