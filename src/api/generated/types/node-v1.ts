// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { Toleration } from "./core-v1.ts";
import type { ListMeta, StoredMeta } from "./meta-v1.ts";

export type Overhead = {
  readonly podFixed?: Readonly<Record<string, string>>;
};

export type RuntimeClass = {
  readonly apiVersion: "node.k8s.io/v1";
  readonly handler: string;
  readonly kind: "RuntimeClass";
  readonly metadata: StoredMeta;
  readonly overhead?: Overhead;
  readonly scheduling?: Scheduling;
};
export const RuntimeClass: ResourceType<RuntimeClass> = {
  apiVersion: "node.k8s.io/v1",
  kind: "RuntimeClass",
  plural: "runtimeclasses",
  namespaced: false,
};

export type RuntimeClassList = {
  readonly apiVersion: "node.k8s.io/v1";
  readonly items: readonly RuntimeClass[];
  readonly kind: "RuntimeClassList";
  readonly metadata: ListMeta;
};

export type Scheduling = {
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly Toleration[];
};
