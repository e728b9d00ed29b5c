/**
 * Event of `v1` and of `events.k8s.io/v1` are one object with two sets of field names; it is stored as `v1`.
 * Normal form goes in and comes out.
 */

import { isJsonObject, type JsonObject, withSortedKeys } from "../../api/json/json-object.ts";
import type { Conversion } from "../rules/kind-rules.ts";

/** The names in `v1` and in `events.k8s.io/v1`. */
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

/** These are always written in `v1`, and only when not empty in `events.k8s.io/v1`. */
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
  // The count of a series is always written here.
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
