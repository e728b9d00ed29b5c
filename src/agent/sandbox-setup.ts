/**
 * Makes a pod ready to run its containers: its device claims, then its sandbox with addresses. A step that fails is reported as an
 * Event and retried until it succeeds or the pod ends.
 */
import { Node, type Pod } from "../api/generated/types/core-v1.ts";
import { RuntimeClass } from "../api/generated/types/node-v1.ts";
import type { Client } from "../client/client.ts";
import { WriteLimiter } from "../runtime/controller/write-limiter.ts";
import type { RoutineParts } from "../runtime/manager/routine.ts";
import type { AgentNode } from "./node/agent-node.ts";
import { findDeviceProblem, hasDeviceClaims } from "./pod/device-claims.ts";
import type { PodWorker } from "./pod/pod-worker.ts";
import type { TimerQueue } from "./timer-queue.ts";

const RETRY_MS = 10_000;
const NO_ADDRESS = "no IP addresses available in range set";

export interface SandboxSetupParts {
  readonly routine: RoutineParts;
  /** Client with the identity of a node. */
  readonly clientOf: (node: string) => Client;
  readonly timers: TimerQueue;
  /** Name of the runtime handler that runs the pods. */
  readonly handler: string;
  /** Whether the pod of the worker is still the node's to run. */
  readonly isKnown: (worker: PodWorker) => boolean;
  readonly mark: (worker: PodWorker) => void;
}

export class SandboxSetup {
  readonly #parts: SandboxSetupParts;
  /** Reads of device claims, bounded like writes. */
  readonly #claimReads = new WriteLimiter<PodWorker>();

  constructor(parts: SandboxSetupParts) {
    this.#parts = parts;
  }

  /** A pod whose claims are not reserved for it does not start. */
  begin(worker: PodWorker, node: AgentNode): void {
    const { pod } = worker;
    if (!hasDeviceClaims(pod)) return this.#makeSandbox(worker, node);
    this.#claimReads.send(worker, async () => {
      // A read error counts as a problem too.
      const problem = await findDeviceProblem(pod, this.#parts.clientOf(node.name));
      if (!this.#parts.isKnown(worker) || worker.isEnding) return;
      if (problem === undefined) {
        this.#makeSandbox(worker, node);
        this.#parts.mark(worker);
        return;
      }
      const message = `Failed to prepare dynamic resources: ${problem}`;
      this.#report(pod, node, { reason: "FailedPrepareDynamicResources", message });
      this.#tryLater(worker, () => this.begin(worker, node));
    });
  }

  /** Resolves when no read is in flight. */
  quiet(): Promise<void> {
    return this.#claimReads.quiet();
  }

  #makeSandbox(worker: PodWorker, node: AgentNode): void {
    const { pod } = worker;
    const problem = this.#findHandlerProblem(pod);
    const addresses = problem === undefined ? this.#newAddresses(pod, node) : undefined;
    if (addresses !== undefined) return worker.settleSandbox(addresses);
    const message = `Failed to create pod sandbox: rpc error: code = Unknown desc = ${problem ?? NO_ADDRESS}`;
    this.#report(pod, node, { reason: "FailedCreatePodSandBox", message });
    this.#tryLater(worker, () => {
      this.#makeSandbox(worker, node);
      this.#parts.mark(worker);
    });
  }

  #tryLater(worker: PodWorker, attempt: () => void): void {
    const { timers, routine, isKnown } = this.#parts;
    timers.add(routine.loop.now() + RETRY_MS, "periodic", () => {
      if (isKnown(worker) && !worker.isEnding) attempt();
    });
  }

  #newAddresses({ spec }: Pod, node: AgentNode): readonly string[] | undefined {
    if (spec.hostNetwork === true) return node.setup.addresses;
    return node.takeAddresses(this.#parts.routine.cache(Node).find({ name: node.name }));
  }

  /** Error text when the pod's RuntimeClass names another runtime handler. */
  #findHandlerProblem({ spec }: Pod): string | undefined {
    const name = spec.runtimeClassName;
    if (name === undefined) return undefined;
    const handler = this.#parts.routine.cache(RuntimeClass).find({ name })?.handler;
    if (handler === undefined) return `RuntimeClass "${name}" not found`;
    if (handler === this.#parts.handler) return undefined;
    return `failed to get sandbox runtime: no runtime for "${handler}" is configured`;
  }

  #report(
    pod: Pod,
    { name }: AgentNode,
    warning: { readonly reason: string; readonly message: string },
  ): void {
    this.#parts.routine.event(pod, { type: "Warning", ...warning, host: name });
  }
}
