// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { ObjectReference } from "./core-v1.ts";
import type { ListMeta, StoredMeta } from "./meta-v1.ts";

export type Endpoint = {
  readonly addresses: readonly string[];
  readonly conditions: EndpointConditions;
  readonly deprecatedTopology?: Readonly<Record<string, string>>;
  readonly hints?: EndpointHints;
  readonly hostname?: string;
  readonly nodeName?: string;
  readonly targetRef?: ObjectReference;
  readonly zone?: string;
};

export type EndpointConditions = {
  readonly ready?: boolean;
  readonly serving?: boolean;
  readonly terminating?: boolean;
};

export type EndpointHints = {
  readonly forNodes?: readonly ForNode[];
  readonly forZones?: readonly ForZone[];
};

export type EndpointPort = {
  readonly appProtocol?: string;
  readonly name?: string;
  readonly port?: number;
  readonly protocol?: "SCTP" | "TCP" | "UDP";
};

export type EndpointSlice = {
  readonly addressType: string;
  readonly apiVersion: "discovery.k8s.io/v1";
  readonly endpoints: readonly Endpoint[];
  readonly kind: "EndpointSlice";
  readonly metadata: StoredMeta;
  readonly ports: readonly EndpointPort[];
};
export const EndpointSlice: ResourceType<EndpointSlice> = {
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  namespaced: true,
};

export type EndpointSliceList = {
  readonly apiVersion: "discovery.k8s.io/v1";
  readonly items: readonly EndpointSlice[];
  readonly kind: "EndpointSliceList";
  readonly metadata: ListMeta;
};

export type ForNode = {
  readonly name: string;
};

export type ForZone = {
  readonly name: string;
};
