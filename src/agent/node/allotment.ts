/** What the pods of one node take together, kept up to date pod by pod. */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { podRequests, type ResourceNumbers } from "../../resources/pod/pod-requests.ts";

interface Share {
  readonly requests: ResourceNumbers;
  readonly ports: readonly string[];
}

export class Allotment {
  readonly #shares = new Map<string, Share>();
  readonly #sums = new Map<string, number>();
  readonly #ports = new Map<string, number>();

  get pods(): number {
    return this.#shares.size;
  }

  used(resource: string): number {
    return this.#sums.get(resource) ?? 0;
  }

  isPortTaken(port: string): boolean {
    return this.#ports.has(port);
  }

  /** Takes the pod in, or its new sizes. */
  add(pod: Pod): void {
    const { uid } = pod.metadata;
    this.remove(uid);
    const share = { requests: podRequests(pod), ports: hostPorts(pod) };
    this.#shares.set(uid, share);
    for (const [resource, amount] of share.requests) this.#sums.set(resource, this.used(resource) + amount);
    for (const port of share.ports) this.#ports.set(port, (this.#ports.get(port) ?? 0) + 1);
  }

  /** False when it was not there. */
  remove(uid: string): boolean {
    const share = this.#shares.get(uid);
    if (share === undefined) return false;
    this.#shares.delete(uid);
    for (const [resource, amount] of share.requests) this.#sums.set(resource, this.used(resource) - amount);
    for (const port of share.ports) {
      const left = (this.#ports.get(port) ?? 0) - 1;
      if (left > 0) this.#ports.set(port, left);
      else this.#ports.delete(port);
    }
    return true;
  }
}

/** `TCP/8080`; a host address makes no difference here, so that two pods never share a port. */
export function hostPorts({ spec }: Pod): readonly string[] {
  return spec.containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort = 0, protocol = "TCP" }) => (hostPort > 0 ? [`${protocol}/${hostPort}`] : [])),
  );
}
