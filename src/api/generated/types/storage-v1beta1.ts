// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { ListMeta, StoredMeta } from "./meta-v1.ts";

export type VolumeAttributesClass = {
  readonly apiVersion: "storage.k8s.io/v1beta1";
  readonly driverName: string;
  readonly kind: "VolumeAttributesClass";
  readonly metadata: StoredMeta;
  readonly parameters?: Readonly<Record<string, string>>;
};
export const VolumeAttributesClass: ResourceType<VolumeAttributesClass> = {
  apiVersion: "storage.k8s.io/v1beta1",
  kind: "VolumeAttributesClass",
  plural: "volumeattributesclasses",
  namespaced: false,
};

export type VolumeAttributesClassList = {
  readonly apiVersion: "storage.k8s.io/v1beta1";
  readonly items: readonly VolumeAttributesClass[];
  readonly kind: "VolumeAttributesClassList";
  readonly metadata: ListMeta;
};
