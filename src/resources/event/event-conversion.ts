/**
 * Converts events between `v1`, the stored form, and `events.k8s.io/v1`: the fields are the same under other
 * names. Input and output are in normal form.
 */

import { isJsonObject, type JsonObject, withSortedKeys } from "../../api/json/json-object.ts";
import type { Conversion } from "../rules/kind-rules.ts";

/** Pairs of field names: `v1`, `events.k8s.io/v1`. */
const FIELDS: readonly (readonly [core: string, events: string])[] = [
  ["action", "action"],
  ["count", "deprecatedCount"],
  ["eventTime", "eventTime"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["involvedObject", "regarding"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["message", "note"],
  ["reason", "reason"],
  ["related", "related"],
  ["reportingComponent", "reportingController"],
  ["reportingInstance", "reportingInstance"],
  ["series", "series"],
  ["source", "deprecatedSource"],
  ["type", "type"],
];

/** Fields that `v1` always writes, and `events.k8s.io/v1` only when they are not empty. */
const REPORTER = ["reportingComponent", "reportingInstance"];

/** From `v1`, the stored form, to `events.k8s.io/v1`. */
export const eventFromCore: Conversion = (core) => {
  const event: Record<string, unknown> = {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: core["metadata"],
  };
  for (const [from, to] of FIELDS) {
    const value = core[from];
    if (value !== undefined && !(REPORTER.includes(from) && value === "")) event[to] = value;
  }
  // `events.k8s.io/v1` always writes the count of a series.
  if (isJsonObject(event["series"])) event["series"] = { count: 0, ...event["series"] };
  return withSortedKeys(event);
};

/** From `events.k8s.io/v1` to `v1`, the stored form. */
export const eventToCore: Conversion = (event) => {
  const core: Record<string, unknown> = { apiVersion: "v1", kind: "Event", metadata: event["metadata"] };
  for (const [to, from] of FIELDS) {
    const value = event[from] ?? (REPORTER.includes(to) ? "" : undefined);
    if (value !== undefined) core[to] = value;
  }
  if (isJsonObject(core["series"])) core["series"] = withoutZeroCount(core["series"]);
  return withSortedKeys(core);
};

function withoutZeroCount(series: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(series).filter(([key, value]) => key !== "count" || value !== 0));
}
