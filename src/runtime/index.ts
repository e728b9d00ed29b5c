/** `setpoint/runtime`: the building blocks of controllers. */
export { createTextLog } from "../base/log/log-text.ts";
export type { TextLogOptions } from "../base/log/log-text.ts";
export { silentLog } from "../base/log/log.ts";
export type { Log, LogFields, LogLevel } from "../base/log/log.ts";
export type { Metrics } from "../base/metrics/metrics.ts";
export { CacheSet } from "./cache/cache-set.ts";
export type { CacheScope, CacheSetOptions } from "./cache/cache-set.ts";
export { Cache } from "./cache/cache.ts";
export type { CacheListener } from "./cache/cache.ts";
export type { CacheFilter, CacheView, IndexFunction } from "./cache/cache-view.ts";
export type { Cause, Causes } from "../api/causes/cause.ts";
export { child } from "./controller/child.ts";
export type { ChildManifest, ChildOptions, DeclaredChild, NamedManifest } from "./controller/child.ts";
export { childName } from "./controller/child-names.ts";
export { findCondition, isTrue, withCondition } from "./controller/conditions.ts";
export type { AnyCondition, ConditionMoment, NewCondition } from "./controller/conditions.ts";
export { defineController, indexing, TerminalError, watching } from "./controller/controller.ts";
export type {
  CacheReader,
  ClaimChoice,
  Controller,
  ControllerDefinition,
  IndexDefinition,
  Outcome,
  Recheck,
  ReconcileContext,
  WatchMapping,
} from "./controller/controller.ts";
export type { RecordedEvent } from "./events/recorded-event.ts";
export type { ObjectChange } from "./cache/object-change.ts";
export { LeadershipLostError } from "./manager/leader-election.ts";
export type { LeaderElectionOptions } from "./manager/leader-election.ts";
export { createManager } from "./manager/manager.ts";
export type { Manager, ManagerOptions, ManagerSettings } from "./manager/manager.ts";
export { controllerOf, isControlledBy, ownerReferenceTo } from "./refs/owner-reference.ts";
export type { PassRecord } from "./controller/pass-result.ts";
export {
  allOf,
  annotationsChanged,
  anyOf,
  generationChanged,
  labelsChanged,
} from "./controller/predicates.ts";
export type { Predicate } from "./controller/predicates.ts";
export { defineResource } from "./kinds/resource-definition.ts";
export type {
  Column,
  CustomObject,
  CustomResourceManifest,
  DefinedResource,
  ObjectOf,
  ResourceOptions,
} from "./kinds/resource-definition.ts";
export type { Routine, RoutineParts } from "./manager/routine.ts";
export { t } from "./kinds/schema-part.ts";
export type { SchemaPart, TypeOf } from "./kinds/schema-part.ts";
export { permissionsOf } from "./controller/permissions.ts";
export { slowStart } from "./controller/slow-start.ts";
export type { SlowStartResult } from "./controller/slow-start.ts";
export { WorkQueue } from "./queue/work-queue.ts";
export type { Urgency, WorkItem, WorkQueueOptions } from "./queue/work-queue.ts";
