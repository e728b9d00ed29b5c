// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { ListMeta, StoredMeta } from "./meta-v1.ts";

export type PriorityClass = {
  readonly apiVersion: "scheduling.k8s.io/v1";
  readonly description?: string;
  readonly globalDefault?: boolean;
  readonly kind: "PriorityClass";
  readonly metadata: StoredMeta;
  readonly preemptionPolicy?: string;
  readonly value: number;
};
export const PriorityClass: ResourceType<PriorityClass> = {
  apiVersion: "scheduling.k8s.io/v1",
  kind: "PriorityClass",
  plural: "priorityclasses",
  namespaced: false,
};

export type PriorityClassList = {
  readonly apiVersion: "scheduling.k8s.io/v1";
  readonly items: readonly PriorityClass[];
  readonly kind: "PriorityClassList";
  readonly metadata: ListMeta;
};
