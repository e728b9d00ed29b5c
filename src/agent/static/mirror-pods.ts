/** Keeps the mirror pods of the static pods of this process's nodes: creates missing ones, replaces outdated ones. */
import { isApiError } from "../../api/errors/api-error.ts";
import { Node, Pod } from "../../api/generated/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import type { ObjectChange } from "../../runtime/cache/object-change.ts";
import { WriteLimiter } from "../../runtime/controller/write-limiter.ts";
import type { RoutineParts } from "../../runtime/manager/routine.ts";
import { withCause } from "../../runtime/manager/stated-cause.ts";
import type { AgentNode } from "../node/agent-node.ts";
import type { TimerQueue } from "../timer-queue.ts";
import { isMirrorOf, mirrorName, mirrorPod, type StaticPod } from "./static-pod.ts";

const RETRY_MS = 10_000;

export interface MirrorPodsParts {
  readonly routine: RoutineParts;
  /** Client with the identity of a node. */
  readonly clientOf: (node: string) => Client;
  readonly timers: TimerQueue;
  readonly findNode: (name: string) => AgentNode | undefined;
  /** Aborted at shutdown: later write errors are expected and not logged. */
  readonly signal: AbortSignal;
  readonly pods: readonly StaticPod[];
}

export class MirrorPods {
  readonly #parts: MirrorPodsParts;
  readonly #pods: ReadonlyMap<string, StaticPod>;
  readonly #writes = new WriteLimiter<StaticPod>();
  /** Pods whose mirror changed during a write. */
  readonly #again = new Set<StaticPod>();

  constructor(parts: MirrorPodsParts) {
    this.#parts = parts;
    this.#pods = new Map(parts.pods.map((pod) => [keyOf(pod.namespace, mirrorName(pod)), pod]));
  }

  /** Whether the pod is the mirror of a static pod. */
  has(pod: Pod): boolean {
    const found = this.#find(pod);
    return found !== undefined && isMirrorOf(found, pod);
  }

  /** Subscribes to pods. Returns a function that ends the subscription. */
  follow(): () => void {
    return this.#parts.routine.subscribe(Pod, (change) => this.#changed(change));
  }

  /** The node is up: it has its mirror pods from now on. */
  startNode({ name }: AgentNode): void {
    for (const pod of this.#pods.values()) if (pod.node === name) this.#keep(pod);
  }

  /** Resolves when no write is in flight. The signal must be aborted before. */
  async end(): Promise<void> {
    await this.#writes.quiet();
  }

  #changed({ before, after }: ObjectChange<Pod>): void {
    const pod = this.#find(after ?? before);
    if (pod !== undefined && (after === undefined || !isMirrorOf(pod, after))) this.#keep(pod);
  }

  #find(object: Pod | undefined): StaticPod | undefined {
    const { namespace = "", name } = object?.metadata ?? {};
    return name === undefined ? undefined : this.#pods.get(keyOf(namespace, name));
  }

  #keep(pod: StaticPod): void {
    const { signal, findNode } = this.#parts;
    const isUp = (): boolean => !signal.aborted && findNode(pod.node)?.state === "up";
    if (!isUp()) return;
    const isSent = this.#writes.send(pod, async () => {
      try {
        if (isUp()) await this.#write(pod);
      } catch (error) {
        if (isUp()) this.#failed(pod, error);
      }
      if (this.#again.delete(pod)) this.#parts.routine.loop.post("loop", () => this.#keep(pod));
    });
    if (!isSent) this.#again.add(pod);
  }

  /** The deletion of an outdated mirror leads here again, through its watch event. */
  async #write(pod: StaticPod): Promise<void> {
    const { routine, clientOf } = this.#parts;
    const object = { metadata: { namespace: pod.namespace, name: mirrorName(pod) } };
    const note = "mirrors a static pod of its node";
    const client = withCause(clientOf(pod.node), { loop: "kubelet", type: Pod, object, note });
    const known = routine.cache(Pod).find({ namespace: pod.namespace, name: mirrorName(pod) });
    if (known !== undefined && isMirrorOf(pod, known)) return;
    if (known !== undefined) {
      await client(Pod).delete(known, { gracePeriodSeconds: 0 });
      return;
    }
    const node = await client(Node).get({ name: pod.node });
    await client(Pod).create(mirrorPod(pod, node, routine.loop.now()));
  }

  #failed(pod: StaticPod, error: unknown): void {
    const { routine, timers } = this.#parts;
    // A watch event about the other object, or its deletion, follows.
    if (isApiError(error, "AlreadyExists") || isApiError(error, "NotFound")) return;
    const { namespace } = pod;
    routine.log.warn("cannot write mirror pod; retrying in 10 s", {
      namespace,
      name: mirrorName(pod),
      error,
    });
    timers.add(routine.loop.now() + RETRY_MS, "periodic", () => this.#keep(pod));
  }
}

function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
