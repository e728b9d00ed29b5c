/** A Service without endpoints, or with a port that no pod has. */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { Service } from "../../api/generated/types/core-v1.ts";
import { findCondition } from "../state/conditions.ts";
import { nearestOf } from "../text/nearest-text.ts";
import type { Finding, Remedy, Situation, StuckRule } from "./situation.ts";
import { asKind, inNamespace, kubectlName } from "./situation.ts";

type Labels = Readonly<Record<string, string>>;

export const serviceRule: StuckRule = (situation) => {
  const service = asKind(situation, Service);
  const selector = selectorOf(service);
  if (service === undefined || selector === undefined) return undefined;
  const pods = selectedBy(service, situation.pods);
  if (pods.length === 0) return withoutPods(service, selector, situation.pods);
  const unnamed = missingPort(service, pods);
  if (unnamed !== undefined) {
    const command = `kubectl edit ${kubectlName(situation)}`;
    return {
      blockedBy: `its targetPort ${unnamed} is the name of no port of its pods, so it has no endpoints`,
      unblock: [{ command, effect: "name a containerPort of the pods, or its number" }],
    };
  }
  const ready = pods.filter((pod) => findCondition(pod, "Ready")?.status === "True");
  if (ready.length > 0 || service.spec.publishNotReadyAddresses === true) return undefined;
  return {
    blockedBy: `none of its ${String(pods.length)} pods is ready, so it has no endpoints`,
    unblock: [],
  };
};

/** `2 of 3 pods ready`; undefined for another kind, and for a Service without a selector. */
export function endpointsText(situation: Situation): string | undefined {
  const service = asKind(situation, Service);
  if (service === undefined || selectorOf(service) === undefined) return undefined;
  const pods = selectedBy(service, situation.pods);
  const ready = pods.filter((pod) => findCondition(pod, "Ready")?.status === "True");
  return `${String(ready.length)} of ${String(pods.length)} pods ready`;
}

/** A load balancer is made outside of the cluster. */
export const loadBalancerRule: StuckRule = (situation) => {
  const service = asKind(situation, Service);
  const isWaiting =
    service?.spec.type === "LoadBalancer" && (service.status.loadBalancer?.ingress ?? []).length === 0;
  if (!isWaiting) return undefined;
  const command = `kubectl patch ${kubectlName(situation)} -p '{"spec":{"type":"NodePort"}}'`;
  return {
    blockedBy:
      "no controller has made its load balancer; a cluster needs one from its cloud, or such as MetalLB",
    unblock: [{ command, effect: "do without; kubectl port-forward works too" }],
  };
};

/** Pods that a Service selects; none without a selector. */
export function selectedBy(service: Service, pods: readonly Pod[]): readonly Pod[] {
  const selector = selectorOf(service);
  return selector === undefined ? [] : pods.filter(({ metadata }) => hasLabels(metadata.labels, selector));
}

function selectorOf(service: Service | undefined): Labels | undefined {
  const { selector, type } = service?.spec ?? {};
  return selector === undefined || type === "ExternalName" || Object.keys(selector).length === 0
    ? undefined
    : selector;
}

function hasLabels(labels: Labels = {}, wanted: Labels): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}

function withoutPods({ metadata }: Service, selector: Labels, pods: readonly Pod[]): Finding {
  const place = inNamespace(metadata.namespace);
  const wanted = Object.entries(selector).map(([key, value]) => `${key}=${value}`);
  const nearest = nearestLabels(selector, pods);
  const remedy: Remedy =
    nearest === undefined
      ? { command: `kubectl get pods --show-labels${place}`, effect: "compare the labels of the pods" }
      : {
          command: `kubectl patch service ${metadata.name}${place} -p '${JSON.stringify({ spec: { selector: nearest } })}'`,
          effect: "select pods that exist",
        };
  return {
    blockedBy: `no pod has the labels ${wanted.join(",")}, so it has no endpoints`,
    unblock: [remedy],
  };
}

/** Values of the same labels that pods have and that look alike; undefined if there are none. */
function nearestLabels(selector: Labels, pods: readonly Pod[]): Labels | undefined {
  const found: Record<string, string> = {};
  for (const [key, value] of Object.entries(selector)) {
    const values = pods.flatMap(({ metadata }) => metadata.labels?.[key] ?? []);
    const nearest = values.includes(value) ? value : nearestOf(value, values);
    if (nearest === undefined) return undefined;
    found[key] = nearest;
  }
  return pods.some(({ metadata }) => hasLabels(metadata.labels, found)) ? found : undefined;
}

/** Name of a target port that none of the pods has. */
function missingPort({ spec }: Service, pods: readonly Pod[]): string | undefined {
  const names = new Set(
    pods.flatMap((pod) => pod.spec.containers.flatMap(({ ports = [] }) => ports.map(({ name }) => name))),
  );
  for (const { targetPort } of spec.ports ?? [])
    if (typeof targetPort === "string" && !/^\d+$/.test(targetPort) && !names.has(targetPort))
      return targetPort;
  return undefined;
}
