// Made by scripts/generate-facts.mjs. Do not edit.
import type { ResourceType } from "../../api-object.ts";
import type { TypedLocalObjectReference } from "./core-v1.ts";
import type { Condition, LabelSelector, ListMeta, StoredMeta } from "./meta-v1.ts";

export type HTTPIngressPath = {
  readonly backend: IngressBackend;
  readonly path?: string;
  readonly pathType: string;
};

export type HTTPIngressRuleValue = {
  readonly paths: readonly HTTPIngressPath[];
};

export type IPAddress = {
  readonly apiVersion: "networking.k8s.io/v1";
  readonly kind: "IPAddress";
  readonly metadata: StoredMeta;
  readonly spec: IPAddressSpec;
};
export const IPAddress: ResourceType<IPAddress> = {
  apiVersion: "networking.k8s.io/v1",
  kind: "IPAddress",
  plural: "ipaddresses",
  namespaced: false,
};

export type IPAddressList = {
  readonly apiVersion: "networking.k8s.io/v1";
  readonly items: readonly IPAddress[];
  readonly kind: "IPAddressList";
  readonly metadata: ListMeta;
};

export type IPAddressSpec = {
  readonly parentRef?: ParentReference;
};

export type IPBlock = {
  readonly cidr: string;
  readonly except?: readonly string[];
};

export type Ingress = {
  readonly apiVersion: "networking.k8s.io/v1";
  readonly kind: "Ingress";
  readonly metadata: StoredMeta;
  readonly spec: IngressSpec;
  readonly status: IngressStatus;
};
export const Ingress: ResourceType<Ingress> = {
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  plural: "ingresses",
  namespaced: true,
};

export type IngressBackend = {
  readonly resource?: TypedLocalObjectReference;
  readonly service?: IngressServiceBackend;
};

export type IngressClass = {
  readonly apiVersion: "networking.k8s.io/v1";
  readonly kind: "IngressClass";
  readonly metadata: StoredMeta;
  readonly spec: IngressClassSpec;
};
export const IngressClass: ResourceType<IngressClass> = {
  apiVersion: "networking.k8s.io/v1",
  kind: "IngressClass",
  plural: "ingressclasses",
  namespaced: false,
};

export type IngressClassList = {
  readonly apiVersion: "networking.k8s.io/v1";
  readonly items: readonly IngressClass[];
  readonly kind: "IngressClassList";
  readonly metadata: ListMeta;
};

export type IngressClassParametersReference = {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly scope: string;
};

export type IngressClassSpec = {
  readonly controller?: string;
  readonly parameters?: IngressClassParametersReference;
};

export type IngressList = {
  readonly apiVersion: "networking.k8s.io/v1";
  readonly items: readonly Ingress[];
  readonly kind: "IngressList";
  readonly metadata: ListMeta;
};

export type IngressLoadBalancerIngress = {
  readonly hostname?: string;
  readonly ip?: string;
  readonly ports?: readonly IngressPortStatus[];
};

export type IngressLoadBalancerStatus = {
  readonly ingress?: readonly IngressLoadBalancerIngress[];
};

export type IngressPortStatus = {
  readonly error?: string;
  readonly port: number;
  readonly protocol: "SCTP" | "TCP" | "UDP";
};

export type IngressRule = {
  readonly host?: string;
  readonly http?: HTTPIngressRuleValue;
};

export type IngressServiceBackend = {
  readonly name: string;
  readonly port: ServiceBackendPort;
};

export type IngressSpec = {
  readonly defaultBackend?: IngressBackend;
  readonly ingressClassName?: string;
  readonly rules?: readonly IngressRule[];
  readonly tls?: readonly IngressTLS[];
};

export type IngressStatus = {
  readonly loadBalancer: IngressLoadBalancerStatus;
};

export type IngressTLS = {
  readonly hosts?: readonly string[];
  readonly secretName?: string;
};

export type NetworkPolicy = {
  readonly apiVersion: "networking.k8s.io/v1";
  readonly kind: "NetworkPolicy";
  readonly metadata: StoredMeta;
  readonly spec: NetworkPolicySpec;
};
export const NetworkPolicy: ResourceType<NetworkPolicy> = {
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  plural: "networkpolicies",
  namespaced: true,
};

export type NetworkPolicyEgressRule = {
  readonly ports?: readonly NetworkPolicyPort[];
  readonly to?: readonly NetworkPolicyPeer[];
};

export type NetworkPolicyIngressRule = {
  readonly from?: readonly NetworkPolicyPeer[];
  readonly ports?: readonly NetworkPolicyPort[];
};

export type NetworkPolicyList = {
  readonly apiVersion: "networking.k8s.io/v1";
  readonly items: readonly NetworkPolicy[];
  readonly kind: "NetworkPolicyList";
  readonly metadata: ListMeta;
};

export type NetworkPolicyPeer = {
  readonly ipBlock?: IPBlock;
  readonly namespaceSelector?: LabelSelector;
  readonly podSelector?: LabelSelector;
};

export type NetworkPolicyPort = {
  readonly endPort?: number;
  readonly port?: number | string;
  readonly protocol?: "SCTP" | "TCP" | "UDP";
};

export type NetworkPolicySpec = {
  readonly egress?: readonly NetworkPolicyEgressRule[];
  readonly ingress?: readonly NetworkPolicyIngressRule[];
  readonly podSelector: LabelSelector;
  readonly policyTypes?: readonly ("Egress" | "Ingress")[];
};

export type ParentReference = {
  readonly group?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly resource?: string;
};

export type ServiceBackendPort = {
  readonly name?: string;
  readonly number?: number;
};

export type ServiceCIDR = {
  readonly apiVersion: "networking.k8s.io/v1";
  readonly kind: "ServiceCIDR";
  readonly metadata: StoredMeta;
  readonly spec: ServiceCIDRSpec;
  readonly status: ServiceCIDRStatus;
};
export const ServiceCIDR: ResourceType<ServiceCIDR> = {
  apiVersion: "networking.k8s.io/v1",
  kind: "ServiceCIDR",
  plural: "servicecidrs",
  namespaced: false,
};

export type ServiceCIDRList = {
  readonly apiVersion: "networking.k8s.io/v1";
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
