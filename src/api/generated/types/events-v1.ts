// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { EventSource, ObjectReference } from "./core-v1.ts";
import type { ListMeta, StoredMeta } from "./meta-v1.ts";

export type Event = {
  readonly action?: string;
  readonly apiVersion: "events.k8s.io/v1";
  readonly deprecatedCount?: number;
  readonly deprecatedFirstTimestamp?: string;
  readonly deprecatedLastTimestamp?: string;
  readonly deprecatedSource: EventSource;
  readonly eventTime: string;
  readonly kind: "Event";
  readonly metadata: StoredMeta;
  readonly note?: string;
  readonly reason?: string;
  readonly regarding: ObjectReference;
  readonly related?: ObjectReference;
  readonly reportingController?: string;
  readonly reportingInstance?: string;
  readonly series?: EventSeries;
  readonly type?: string;
};
export const Event: ResourceType<Event> = {
  apiVersion: "events.k8s.io/v1",
  kind: "Event",
  plural: "events",
  namespaced: true,
};

export type EventList = {
  readonly apiVersion: "events.k8s.io/v1";
  readonly items: readonly Event[];
  readonly kind: "EventList";
  readonly metadata: ListMeta;
};

export type EventSeries = {
  readonly count: number;
  readonly lastObservedTime: string;
};
