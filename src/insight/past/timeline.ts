/** The life of an object: each change with its author and cause, and the Events about it, by time. */
import type { Change } from "../../api/causes/change.ts";
import type { Event } from "../../api/generated/types/core-v1.ts";
import { authorText, deedText, fieldText, notable, objectText } from "../text/change-text.ts";
import { clockText } from "../text/duration-text.ts";
import { wrapText } from "../text/text-width.ts";

export interface TimelineEntry {
  /** Time of the API; undefined when no server remembers it. */
  readonly time: string | undefined;
  /** `rev 82` or `event`. */
  readonly mark: string;
  readonly text: string;
  /** Further lines: fields, cause. */
  readonly details: readonly string[];
}

/** Changes stay in order of revision, also after the clock was set back. An Event follows the last change before it. */
export function timelineOf(changes: readonly Change[], events: readonly Event[]): readonly TimelineEntry[] {
  const entries = changes.map(changeEntry);
  for (const event of events.map(eventEntry).toSorted((a, b) => (isBefore(a, b) ? -1 : 1))) {
    const at = entries.findLastIndex((entry) => entry.time !== undefined && !isBefore(event, entry));
    entries.splice(at + 1, 0, event);
  }
  return entries;
}

/** Compares whole seconds: Events have no more. An Event of the same second counts as later. */
function isBefore({ time: one = "" }: TimelineEntry, { time: other = "" }: TimelineEntry): boolean {
  const seconds = "2026-01-31T12:00:00".length;
  return one.slice(0, seconds) < other.slice(0, seconds);
}

/** `columns` of a terminal; without them no line is broken. */
export function timelineText(entries: readonly TimelineEntry[], columns = Infinity): string {
  const width = Math.max(0, ...entries.map(({ mark }) => mark.length));
  return entries
    .map(({ time, mark, text, details }) => {
      const edge = `${clockText(time).padEnd(12)}  ${mark.padEnd(width)}  `;
      const indent = " ".repeat(edge.length + 2);
      return [`${edge}${text}`, ...details.map((each) => `${indent}${each}`)]
        .flatMap((line) => wrapText(line, columns, `${indent}  `))
        .map((line) => `${line}\n`)
        .join("");
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
