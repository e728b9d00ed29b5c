/** Table cells of events, equal in both APIs. */

import type { Event } from "../../api/generated/types/core-v1.ts";
import { timeSince } from "../rules/human-duration.ts";

export function eventCells(it: Event, now: number): readonly (string | number)[] {
  const { first, last, count } = occurrences(it, now);
  return [
    last,
    it.type ?? "",
    it.reason ?? "",
    objectText(it),
    it.involvedObject.fieldPath ?? "",
    sourceText(it),
    (it.message ?? "").trim(),
    first,
    count,
    it.metadata.name,
  ];
}

interface Occurrences {
  readonly first: string;
  readonly last: string;
  readonly count: number;
}

function occurrences(it: Event, now: number): Occurrences {
  const { series, firstTimestamp, lastTimestamp, eventTime } = it;
  const first = timeSince(firstTimestamp ?? eventTime, now);
  if (series !== undefined)
    return { first, last: timeSince(series.lastObservedTime, now), count: series.count ?? 0 };
  // A single event of the newer API has no count.
  return {
    first,
    last: lastTimestamp === undefined ? first : timeSince(lastTimestamp, now),
    count: it.count ?? 1,
  };
}

function objectText({ involvedObject: { kind = "", name } }: Event): string {
  return name === undefined ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`;
}

function sourceText({ source, reportingComponent, reportingInstance }: Event): string {
  const component = source.component ?? reportingComponent;
  const instance = source.host ?? reportingInstance;
  return instance === "" ? component : `${component}, ${instance}`;
}
