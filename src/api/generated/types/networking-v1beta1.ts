// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { Condition, ListMeta, StoredMeta } from "./meta-v1.ts";

export type IPAddress = {
  readonly apiVersion: "networking.k8s.io/v1beta1";
  readonly kind: "IPAddress";
  readonly metadata: StoredMeta;
  readonly spec: IPAddressSpec;
};
export const IPAddress: ResourceType<IPAddress> = {
  apiVersion: "networking.k8s.io/v1beta1",
  kind: "IPAddress",
  plural: "ipaddresses",
  namespaced: false,
};

export type IPAddressList = {
  readonly apiVersion: "networking.k8s.io/v1beta1";
  readonly items: readonly IPAddress[];
  readonly kind: "IPAddressList";
  readonly metadata: ListMeta;
};

export type IPAddressSpec = {
  readonly parentRef?: ParentReference;
};

export type ParentReference = {
  readonly group?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly resource?: string;
};

export type ServiceCIDR = {
  readonly apiVersion: "networking.k8s.io/v1beta1";
  readonly kind: "ServiceCIDR";
  readonly metadata: StoredMeta;
  readonly spec: ServiceCIDRSpec;
  readonly status: ServiceCIDRStatus;
};
export const ServiceCIDR: ResourceType<ServiceCIDR> = {
  apiVersion: "networking.k8s.io/v1beta1",
  kind: "ServiceCIDR",
  plural: "servicecidrs",
  namespaced: false,
};

export type ServiceCIDRList = {
  readonly apiVersion: "networking.k8s.io/v1beta1";
  readonly items: readonly ServiceCIDR[];
  readonly kind: "ServiceCIDRList";
  readonly metadata: ListMeta;
};

export type ServiceCIDRSpec = {
  readonly cidrs?: readonly string[];
};

export type ServiceCIDRStatus = {
  readonly conditions?: readonly Condition[];
};
