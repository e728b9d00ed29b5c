/** The life of an object: each change with its author and cause, and the Events about it, by time. */
import type { Change } from "../../api/causes/change.ts";
import type { Event } from "../../api/generated/types/core-v1.ts";
import { authorText, deedText, fieldText, notable, objectText } from "../text/change-text.ts";
import { clockText } from "../text/duration-text.ts";

export interface TimelineEntry {
  /** Time of the API; undefined when no server remembers it. */
  readonly time: string | undefined;
  /** `rev 82` or `event`. */
  readonly mark: string;
  readonly text: string;
  /** Further lines: fields, cause. */
  readonly details: readonly string[];
}

export function timelineOf(changes: readonly Change[], events: readonly Event[]): readonly TimelineEntry[] {
  const entries = [...changes.map(changeEntry), ...events.map(eventEntry)];
  // A stable sort keeps changes of equal time, and those without one, in order of revision.
  return entries.toSorted((a, b) => {
    if (a.time === undefined || b.time === undefined || a.time === b.time) return 0;
    return a.time < b.time ? -1 : 1;
  });
}

export function timelineText(entries: readonly TimelineEntry[]): string {
  const width = Math.max(0, ...entries.map(({ mark }) => mark.length));
  return entries
    .map(({ time, mark, text, details }) => {
      const edge = `${clockText(time).padEnd(12)}  ${mark.padEnd(width)}  `;
      return [`${edge}${text}\n`, ...details.map((each) => `${" ".repeat(edge.length + 2)}${each}\n`)].join(
        "",
      );
    })
    .join("");
}

function changeEntry(change: Change): TimelineEntry {
  const { time, revision, operation, fields, author } = change;
  const isListed = operation === "Updated" && fields !== undefined && fields.length > 1;
  return {
    time,
    mark: `rev ${revision}`,
    text: `${authorText(author)} ${isListed ? `changed ${objectText(change.object)}` : deedText(change)}`,
    details: [...(isListed ? notable(fields).map(fieldText) : []), ...causeLines(change)],
  };
}

function causeLines({ pass }: Change): readonly string[] {
  if (pass === undefined) return [];
  const { note, reasons, reasonCount } = pass;
  const woken = reasons.flatMap(({ type, object, deleted }) => {
    if (type !== "Object") return [type.toLowerCase()];
    return object === undefined ? [] : [`${objectText(object)}${deleted === true ? " (deleted)" : ""}`];
  });
  const more = reasonCount > reasons.length ? ` and ${String(reasonCount - reasons.length)} more` : "";
  const why = woken.length === 0 ? [] : [`woken by ${[...new Set(woken)].join(", ")}${more}`];
  return note === undefined ? why : [`because: ${note}`, ...why];
}

function eventEntry({
  lastTimestamp,
  eventTime,
  metadata,
  type,
  reason,
  message,
  count = 1,
}: Event): TimelineEntry {
  const times = count > 1 ? ` (×${String(count)})` : "";
  return {
    time: eventTime ?? lastTimestamp ?? metadata.creationTimestamp,
    mark: "event",
    text: `${type ?? "Normal"} ${reason ?? ""}: ${message ?? ""}${times}`,
    details: [],
  };
}
