// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { ListMeta, StoredMeta } from "./meta-v1.ts";

export type APIService = {
  readonly apiVersion: "apiregistration.k8s.io/v1";
  readonly kind: "APIService";
  readonly metadata: StoredMeta;
  readonly spec: APIServiceSpec;
  readonly status: APIServiceStatus;
};
export const APIService: ResourceType<APIService> = {
  apiVersion: "apiregistration.k8s.io/v1",
  kind: "APIService",
  plural: "apiservices",
  namespaced: false,
};

export type APIServiceCondition = {
  readonly lastTransitionTime?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
};

export type APIServiceList = {
  readonly apiVersion: "apiregistration.k8s.io/v1";
  readonly items: readonly APIService[];
  readonly kind: "APIServiceList";
  readonly metadata: ListMeta;
};

export type APIServiceSpec = {
  readonly caBundle?: string;
  readonly group?: string;
  readonly groupPriorityMinimum: number;
  readonly insecureSkipTLSVerify?: boolean;
  readonly service?: ServiceReference;
  readonly version?: string;
  readonly versionPriority: number;
};

export type APIServiceStatus = {
  readonly conditions?: readonly APIServiceCondition[];
};

export type ServiceReference = {
  readonly name?: string;
  readonly namespace?: string;
  readonly port?: number;
};
