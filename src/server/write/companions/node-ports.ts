/** Allocates the node ports of a Service: the requested ones, or free ones. */
import { internalError, invalid } from "../../../api/errors/api-error.ts";
import { fieldPath, FieldErrors } from "../../../api/errors/field-error.ts";
import type { FieldPath } from "../../../api/errors/field-error.ts";
import type { Service, ServicePort } from "../../../api/generated/types/core-v1.ts";
import type { Random } from "../../../base/loop/loop.ts";
import type { Draft } from "../../../resources/rules/kind-rules.ts";
import { needsHealthCheckPort, needsNodePorts } from "../../../resources/service/service-shape.ts";
import { portsOf } from "./port-allocation.ts";
import type { PortAllocation } from "./port-allocation.ts";

export interface PortParts {
  readonly allocation: PortAllocation;
  readonly random: Random;
}

/** Whether the change can allocate or release node ports. If not, the allocation need not be read. */
export function hasPorts(service: Service | undefined): boolean {
  if (service === undefined) return false;
  return needsNodePorts(service.spec) || needsHealthCheckPort(service.spec) || portsOf(service).length > 0;
}

/** Fills in the node ports of the draft; takes and releases ports in the allocation. */
export function claimPorts(draft: Draft<Service>, previous: Service | undefined, parts: PortParts): void {
  const own = new Set(portsOf(previous));
  const claim = { service: draft, own, parts };
  if (isAllocated(draft)) fillIn(draft, claim);
  if (needsHealthCheckPort(draft.spec)) fillInHealthCheck(draft, claim);
  const now = new Set(portsOf(draft));
  for (const port of portsOf(previous)) {
    if (!now.has(port)) parts.allocation.release(port);
  }
}

/** A load balancer with `allocateLoadBalancerNodePorts: false` may still ask for a port by number. */
function isAllocated({ spec }: Service): boolean {
  return spec.type === "NodePort" || spec.type === "LoadBalancer";
}

interface Claim {
  readonly service: Service;
  /** Ports that the Service had before or got from this claim. */
  readonly own: Set<number>;
  readonly parts: PortParts;
}

function fillIn({ spec }: Draft<Service>, claim: Claim): void {
  const ports = spec.ports ?? [];
  for (const [i, { nodePort }] of ports.entries()) {
    const path = fieldPath("spec", "ports").index(i).child("nodePort");
    if (nodePort !== undefined) takeAsked(nodePort, path, claim);
  }
  if (!needsNodePorts(spec)) return;
  for (const port of ports) port.nodePort ??= findShared(port, ports) ?? takeFree(claim);
}

/** Entries with the same port and another protocol share one node port. */
function findShared({ port, protocol }: ServicePort, ports: readonly ServicePort[]): number | undefined {
  const isUsed = (shared: number): boolean =>
    ports.some((other) => other.protocol === protocol && other.nodePort === shared);
  return ports.find((other) => other.port === port && other.nodePort !== undefined && !isUsed(other.nodePort))
    ?.nodePort;
}

function fillInHealthCheck({ spec }: Draft<Service>, claim: Claim): void {
  const { healthCheckNodePort } = spec;
  if (healthCheckNodePort === undefined) {
    spec.healthCheckNodePort = takeFree(claim);
    return;
  }
  const why = takeRefusal(healthCheckNodePort, claim);
  if (why === undefined) return;
  throw internalError(
    new Error(`failed to allocate requested HealthCheck NodePort ${healthCheckNodePort}: ${why}`),
  );
}

function takeAsked(port: number, path: FieldPath, claim: Claim): void {
  const why = takeRefusal(port, claim);
  if (why === undefined) return;
  const errors = new FieldErrors();
  errors.invalid(path, port, why);
  throw invalid({ group: "", kind: "Service" }, claim.service.metadata.name, errors.found);
}

/** Takes the port; returns the reason if it cannot. */
function takeRefusal(port: number, { own, parts: { allocation } }: Claim): string | undefined {
  if (own.has(port)) return undefined;
  if (!allocation.contains(port)) {
    return `provided port is not in the valid range. The range of valid ports is ${allocation.rangeText}`;
  }
  if (allocation.isTaken(port)) return "provided port is already allocated";
  allocation.take(port);
  own.add(port);
  return undefined;
}

function takeFree({ own, parts: { allocation, random } }: Claim): number {
  const port = allocation.findFree(random);
  if (port === undefined) throw internalError(new Error("failed to allocate a nodePort: range is full"));
  allocation.take(port);
  own.add(port);
  return port;
}
