/**
 * Makes a pod ready to run its containers: its device claims, then its sandbox with addresses. A step that fails is reported as an
 * Event and retried until it succeeds or the pod ends.
 */
import { Node, type Pod } from "../api/generated/types/core-v1.ts";
import type { Client } from "../client/client.ts";
import { WriteLimiter } from "../runtime/controller/write-limiter.ts";
import type { RoutineParts } from "../runtime/manager/routine.ts";
import type { HandlerChoice } from "./handler-choice.ts";
import type { AgentNode } from "./node/agent-node.ts";
import { findDeviceProblem, hasDeviceClaims } from "./pod/device-claims.ts";
import { findNameProblem, kernelNameOf } from "./pod/hostname.ts";
import type { PodWorker } from "./pod/pod-worker.ts";
import type { Programs } from "./programs/programs.ts";
import type { SandboxReport, SandboxSpec } from "./runtime-handler.ts";
import type { TimerQueue } from "./timer-queue.ts";

const RETRY_MS = 10_000;

export interface SandboxSetupParts {
  readonly routine: RoutineParts;
  /** Client with the identity of a node. */
  readonly clientOf: (node: string) => Client;
  readonly timers: TimerQueue;
  readonly handlers: HandlerChoice;
  /** Prepares programs; undefined if no handler runs any. */
  readonly programs?: Pick<Programs, "prepare"> | undefined;
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

  /** Takes a report of the handler about the pod's sandbox. */
  settle(worker: PodWorker, node: AgentNode, report: SandboxReport): void {
    if (report.type === "sandbox-ready") {
      worker.settleSandbox(report.addresses);
      this.#parts.mark(worker);
    } else if (report.type === "sandbox-failed") this.#failed(worker, node, report.message);
  }

  #makeSandbox(worker: PodWorker, node: AgentNode): void {
    const { pod } = worker;
    const choice = this.#parts.handlers.find(pod);
    if (choice.type === "problem") return this.#failed(worker, node, choice.message);
    worker.settleHandler(choice.handler);
    const nameProblem = findNameProblem(pod);
    if (nameProblem !== undefined) return this.#failed(worker, node, nameProblem);
    const object = this.#parts.routine.cache(Node).find({ name: node.name });
    if (choice.handler.runsPrograms) this.#parts.programs?.prepare(pod);
    return choice.handler.createSandbox(sandboxSpec(pod, node, object));
  }

  #failed(worker: PodWorker, node: AgentNode, problem: string): void {
    const message = `Failed to create pod sandbox: rpc error: code = Unknown desc = ${problem}`;
    this.#report(worker.pod, node, { reason: "FailedCreatePodSandBox", message });
    this.#tryLater(worker, () => this.#makeSandbox(worker, node));
  }

  #tryLater(worker: PodWorker, attempt: () => void): void {
    const { timers, routine, isKnown } = this.#parts;
    timers.add(routine.loop.now() + RETRY_MS, "periodic", () => {
      if (isKnown(worker) && !worker.isEnding) attempt();
    });
  }

  #report(
    pod: Pod,
    { name }: AgentNode,
    warning: { readonly reason: string; readonly message: string },
  ): void {
    this.#parts.routine.event(pod, { type: "Warning", ...warning, host: name });
  }
}

/** The spec of the pod's sandbox on the node. */
export function sandboxSpec(pod: Pod, node: AgentNode, object: Node | undefined): SandboxSpec {
  const { podIP, podIPs } = pod.status;
  return {
    node: node.name,
    pod,
    podCidrs: node.podCidrs(object),
    hostAddresses: node.setup.addresses,
    addresses: podIPs?.map(({ ip }) => ip) ?? (podIP === undefined ? [] : [podIP]),
    hostname: kernelNameOf(pod),
  };
}
