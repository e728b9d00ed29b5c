// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { Condition, DeleteOptions, LabelSelector, ListMeta, StoredMeta } from "./meta-v1.ts";

export type Eviction = {
  readonly apiVersion: "policy/v1";
  readonly deleteOptions?: DeleteOptions;
  readonly kind: "Eviction";
  readonly metadata: StoredMeta;
};

export type PodDisruptionBudget = {
  readonly apiVersion: "policy/v1";
  readonly kind: "PodDisruptionBudget";
  readonly metadata: StoredMeta;
  readonly spec: PodDisruptionBudgetSpec;
  readonly status: PodDisruptionBudgetStatus;
};
export const PodDisruptionBudget: ResourceType<PodDisruptionBudget> = {
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  namespaced: true,
};

export type PodDisruptionBudgetList = {
  readonly apiVersion: "policy/v1";
  readonly items: readonly PodDisruptionBudget[];
  readonly kind: "PodDisruptionBudgetList";
  readonly metadata: ListMeta;
};

export type PodDisruptionBudgetSpec = {
  readonly maxUnavailable?: number | string;
  readonly minAvailable?: number | string;
  readonly selector?: LabelSelector;
  readonly unhealthyPodEvictionPolicy?: "AlwaysAllow" | "IfHealthyBudget";
};

export type PodDisruptionBudgetStatus = {
  readonly conditions?: readonly Condition[];
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly disruptedPods?: Readonly<Record<string, string>>;
  readonly disruptionsAllowed: number;
  readonly expectedPods: number;
  readonly observedGeneration?: number;
};
