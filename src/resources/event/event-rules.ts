/** Validation that both APIs of events share. It reads the stored form, `v1`. */

import type { FieldErrors } from "../../api/errors/field-error.ts";
import type { Event } from "../../api/generated/types/core-v1.ts";
import { dns1123Subdomain, qualifiedName } from "../../api/values/names.ts";
import { isSame } from "../rules/value-rules.ts";

/** Upstream's default: an event is removed an hour after its last write. */
export const EVENT_LIFE = { ttlSeconds: 3600, isRecord: true, hasNoDependents: true } as const;

const TEXT_MAX = 128;
const MESSAGE_MAX = 1024;

/** Error paths name the reporter's field as the client's API names it. */
export type ReporterField = "reportingComponent" | "reportingController";

/** An event without `eventTime` comes from an old client: fewer fields are required. */
export function checkEvent(it: Event, reporter: ReporterField, errors: FieldErrors): void {
  const { namespace = "" } = it.metadata;
  const about = it.involvedObject.namespace ?? "";
  const isOld = it.eventTime === undefined;
  // Namespaces for events about cluster-scoped objects.
  const allowed = isOld ? ["", "default"] : ["default", "kube-system"];
  const isAllowed = about === "" ? allowed.includes(namespace) : !isOld || about === namespace;
  if (!isAllowed) errors.invalid("involvedObject.namespace", about, "does not match event.namespace");
  if (!isOld) checkOrigin(it, reporter, errors);
  errors.invalidFor("namespace", namespace, dns1123Subdomain(namespace));
}

function checkOrigin(it: Event, reporter: ReporterField, errors: FieldErrors): void {
  const { action = "", reason = "", message = "", reportingComponent, reportingInstance } = it;
  if (reportingComponent === "") errors.required(reporter);
  errors.invalidFor(reporter, reportingComponent, qualifiedName(reportingComponent));
  for (const [field, value] of Object.entries({ reportingInstance, action, reason })) {
    if (value === "") errors.required(field);
    if (Buffer.byteLength(value) > TEXT_MAX)
      errors.invalid(field, "", `can have at most ${TEXT_MAX} characters`);
  }
  if (Buffer.byteLength(message) > MESSAGE_MAX) {
    errors.invalid("message", "", `can have at most ${MESSAGE_MAX} characters`);
  }
}

/** Stricter rules for `events.k8s.io/v1`: new fields are required, and deprecated fields must be empty. */
export function checkWholeEvent(it: Event, errors: FieldErrors): void {
  const { type = "", source } = it;
  checkSeries(it, errors);
  if (it.eventTime === undefined) errors.required("eventTime");
  if (type !== "Normal" && type !== "Warning") errors.invalid("type", "", `has invalid value: ${type}`);
  for (const field of ["firstTimestamp", "lastTimestamp", "count"] as const) {
    if (it[field] !== undefined) errors.invalid(field, "", "needs to be unset");
  }
  if (source.component !== undefined || source.host !== undefined)
    errors.invalid("source", "", "needs to be unset");
}

function checkSeries({ series }: Event, errors: FieldErrors): void {
  if (series === undefined) return;
  if ((series.count ?? 0) < 2) errors.invalid("series.count", "", "should be at least 2");
  if (series.lastObservedTime === undefined) errors.required("series.lastObservedTime");
}

/** Immutable fields, each with upstream's name for it in errors. Only a series may change. */
const FIXED = [
  ["involvedObject", "involvedObject"],
  ["reason", "reason"],
  ["message", "message"],
  ["source", "source"],
  ["firstTimestamp", "firstTimestamp"],
  ["lastTimestamp", "lastTimestamp"],
  ["count", "count"],
  ["related", "related"],
  ["reportingController", "reportingComponent"],
  ["reportingInstance", "reportingInstance"],
  ["type", "type"],
  ["action", "action"],
  ["eventTime", "eventTime"],
] as const satisfies readonly (readonly [string, keyof Event])[];

export function checkEventChange(next: Event, previous: Event, errors: FieldErrors): void {
  if (!isSame(next.series, previous.series)) checkSeries(next, errors);
  for (const [shown, field] of FIXED) errors.immutable(shown, next[field], previous[field]);
}
