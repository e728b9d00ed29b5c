/** Event of `events.k8s.io/v1`, which is stored as an event of `v1`. */

import type { Event as CoreEvent } from "../../api/generated/types/core-v1.ts";
import type { Event } from "../../api/generated/types/events-v1.ts";
import type { ObjectMeta } from "../../api/generated/types/meta-v1.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { referenceFields } from "./core-event.ts";
import { eventCells } from "./event-cells.ts";
import { eventToCore } from "./event-conversion.ts";
import { checkEvent, checkEventChange, checkWholeEvent, EVENT_LIFE } from "./event-rules.ts";

export const event = defineKind<Event>("events.k8s.io/v1", "Event", {
  ...EVENT_LIFE,

  validate(it, errors) {
    checkEvent(stored(it), "reportingController", errors);
    if (isNew(it)) checkWholeEvent(stored(it), errors);
  },

  validateUpdate(next, previous, errors) {
    checkEventChange(stored(next), stored(previous), errors);
  },

  fields: (it) => ({
    ...referenceFields("regarding", it.regarding),
    reason: it.reason ?? "",
    reportingController: it.reportingController ?? "",
    type: it.type ?? "",
  }),

  cells: (it, now) => eventCells(stored(it), now),
});

/**
 * Stored events of old clients may lack required fields, and updates of them stay valid. A new event has no
 * revision.
 */
function isNew({ metadata }: Event): boolean {
  return revisionOf(metadata) === "";
}

function revisionOf({ resourceVersion = "" }: ObjectMeta): string {
  return resourceVersion;
}

function stored(it: Event): CoreEvent {
  return eventToCore({ ...it }) as CoreEvent;
}
