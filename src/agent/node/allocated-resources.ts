/** Sums of the requests and host ports of the pods on one node, updated pod by pod. */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { type HostPort, HostPortTable, hostPorts } from "../../resources/pod/host-ports.ts";
import { podRequests, type ResourceNumbers } from "../../resources/pod/pod-requests.ts";

interface Share {
  readonly requests: ResourceNumbers;
  readonly ports: readonly HostPort[];
}

export class AllocatedResources {
  readonly #shares = new Map<string, Share>();
  readonly #sums = new Map<string, number>();
  readonly #ports = new HostPortTable();

  get pods(): number {
    return this.#shares.size;
  }

  used(resource: string): number {
    return this.#sums.get(resource) ?? 0;
  }

  /** Whether another pod uses a host port that this pod requests. */
  takesPortOf({ spec }: Pod): boolean {
    return this.#ports.conflictsWith(hostPorts(spec));
  }

  /** Adds the pod, or replaces its earlier sizes. Ignores the status, which lags behind the granted sizes. */
  add(pod: Pod): void {
    const { uid } = pod.metadata;
    this.remove(uid);
    const share = { requests: podRequests({ ...pod, status: {} }), ports: hostPorts(pod.spec) };
    this.#shares.set(uid, share);
    for (const [resource, amount] of share.requests) this.#sums.set(resource, this.used(resource) + amount);
    this.#ports.add(share.ports);
  }

  /** Returns false when the pod was not there. */
  remove(uid: string): boolean {
    const share = this.#shares.get(uid);
    if (share === undefined) return false;
    this.#shares.delete(uid);
    for (const [resource, amount] of share.requests) this.#sums.set(resource, this.used(resource) - amount);
    this.#ports.remove(share.ports);
    return true;
  }
}
