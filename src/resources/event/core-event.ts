/** Event of `v1`, the stored form. */

import type { Event, ObjectReference } from "../../api/generated/types/core-v1.ts";
import { pathSegmentName } from "../../api/values/names.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { eventCells } from "./event-cells.ts";
import { checkEvent, EVENT_LIFE } from "./event-rules.ts";

export const coreEvent = defineKind<Event>("v1", "Event", {
  // Reporters build event names from names of other kinds, so that the API accepts any path segment.
  nameRule: pathSegmentName,
  ...EVENT_LIFE,

  validate(it, errors) {
    checkEvent(it, "reportingComponent", errors);
  },

  fields: (it) => ({
    ...referenceFields("involvedObject", it.involvedObject),
    reason: it.reason ?? "",
    reportingComponent: it.reportingComponent,
    source: it.source.component ?? it.reportingComponent,
    type: it.type ?? "",
  }),

  cells: eventCells,
});

const REFERENCE_FIELDS = [
  "apiVersion",
  "fieldPath",
  "kind",
  "name",
  "namespace",
  "resourceVersion",
  "uid",
] as const;

/** Field selectors of an object reference, with `prefix` before each name. */
export function referenceFields(
  prefix: string,
  reference: ObjectReference,
): Readonly<Record<string, string>> {
  return Object.fromEntries(REFERENCE_FIELDS.map((field) => [`${prefix}.${field}`, reference[field] ?? ""]));
}
