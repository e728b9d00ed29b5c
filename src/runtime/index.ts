/** `setpoint/runtime`: what controllers are made of. */
export { createTextLog } from "../base/log-text.ts";
export type { TextLogOptions } from "../base/log-text.ts";
export { silentLog } from "../base/log.ts";
export type { Log, LogFields, LogLevel } from "../base/log.ts";
export type { Metrics } from "../base/metrics.ts";
export { CacheSet } from "./cache-set.ts";
export type { CacheScope, CacheSetOptions } from "./cache-set.ts";
export { Cache } from "./cache.ts";
export type { CacheListener } from "./cache.ts";
export type { CacheFilter, CacheView, IndexFunction } from "./cache-view.ts";
export type { Cause, Causes } from "./cause.ts";
export { childName } from "./child-names.ts";
export { findCondition, isTrue, withCondition } from "./conditions.ts";
export type { ConditionMoment, NewCondition } from "./conditions.ts";
export { defineController, indexing, TerminalError, watching } from "./controller.ts";
export type {
  CacheReader,
  ChildManifest,
  ClaimChoice,
  Controller,
  ControllerDefinition,
  IndexDefinition,
  ObjectChange,
  Outcome,
  Recheck,
  ReconcileContext,
  RecordedEvent,
  WatchMapping,
} from "./controller.ts";
export { LeadLostError } from "./leader-election.ts";
export type { LeaderElectionOptions } from "./leader-election.ts";
export { createManager } from "./manager.ts";
export type { Manager, ManagerOptions, ManagerSettings } from "./manager.ts";
export { controllerOf, isControlledBy, ownerReferenceTo } from "./owner-reference.ts";
export type { PassRecord } from "./pass-result.ts";
export { allOf, annotationsChanged, anyOf, generationChanged, labelsChanged } from "./predicates.ts";
export type { Predicate } from "./predicates.ts";
export { defineResource } from "./resource-definition.ts";
export type {
  Column,
  CustomObject,
  CustomResourceManifest,
  DefinedResource,
  ObjectOf,
  ResourceOptions,
} from "./resource-definition.ts";
export type { Routine, RoutineParts } from "./routine.ts";
export { t } from "./schema-part.ts";
export type { SchemaPart, TypeOf } from "./schema-part.ts";
export { slowStart } from "./slow-start.ts";
export type { SlowStartResult } from "./slow-start.ts";
export { WorkQueue } from "./work-queue.ts";
export type { Urgency, WorkItem, WorkQueueOptions } from "./work-queue.ts";
