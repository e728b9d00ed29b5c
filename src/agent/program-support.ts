/** The agent's own part in containers that are programs: their files, probes, hooks and last messages. */
import type { Pod } from "../api/generated/types/core-v1.ts";
import type { RoutineParts } from "../runtime/manager/routine.ts";
import { ContainerLifecycle, type HookFailure } from "./pod/container-lifecycle.ts";
import type { PodWorker } from "./pod/pod-worker.ts";
import { AgentProber } from "./probes/agent-prober.ts";
import { ContainerChecks } from "./probes/container-checks.ts";
import type { ProbeTotals } from "./probes/probe-totals.ts";
import type { Programs } from "./programs/programs.ts";
import type {
  ContainerKey,
  ContainerPlace,
  ContainerProber,
  ContainerReport,
  RuntimeHandler,
  RuntimeListener,
} from "./runtime-handler.ts";
import type { TimerQueue } from "./timer-queue.ts";

export interface ProgramSupportParts {
  readonly routine: RoutineParts;
  readonly timers: TimerQueue;
  readonly listener: RuntimeListener;
  readonly handlers: readonly RuntimeHandler[];
  /** Undefined if no handler runs programs. */
  readonly programs: Programs | undefined;
  readonly findWorker: (uid: string) => PodWorker | undefined;
  /** Whether the pod is bound to a node of this agent. */
  readonly isOwn: (pod: Pod) => boolean;
}

export class ProgramSupport {
  readonly lifecycle: ContainerLifecycle;
  readonly #parts: ProgramSupportParts;
  /** Probers of the handlers that have none. */
  readonly #probers: ReadonlyMap<RuntimeHandler, AgentProber>;

  constructor(parts: ProgramSupportParts) {
    const { routine, timers, listener, handlers, programs, findWorker } = parts;
    const { loop } = routine;
    this.#parts = parts;
    const checks = new ContainerChecks({ loop, addressOf: (uid) => findWorker(uid)?.place.addresses?.[0] });
    const probed = handlers.filter(({ prober }) => prober === undefined);
    this.#probers = new Map(
      probed.map((handler) => [handler, new AgentProber({ loop, timers, listener, checks, handler })]),
    );
    this.lifecycle = new ContainerLifecycle({
      ...{ now: () => loop.now(), timers, listener, programs, hooks: checks },
      warn: (place, failure) => this.#warn(place, failure),
    });
  }

  proberOf(handler: RuntimeHandler): ContainerProber | undefined {
    return handler.prober ?? this.#probers.get(handler);
  }

  started({ uid, container }: ContainerKey): void {
    const worker = this.#parts.findWorker(uid);
    const place = worker?.findContainer(container);
    const handler = worker?.place.handler;
    if (place !== undefined && handler !== undefined) this.lifecycle.started(handler, place);
  }

  /** Passes the report on to the pod's worker, with the message that the container left. */
  exited(key: ContainerKey, report: Extract<ContainerReport, { type: "exited" }>): void {
    const { programs, findWorker } = this.#parts;
    this.lifecycle.ended(key);
    for (const prober of this.#probers.values()) prober.ended(key);
    const worker = findWorker(key.uid);
    const place = worker?.findContainer(key.container);
    const handler = worker?.place.handler;
    if (programs === undefined || place === undefined || handler?.runsPrograms !== true)
      return worker?.report(key.container, report);
    const tell = (message: string | undefined): void => {
      const whole = message === undefined ? report : { ...report, message };
      findWorker(key.uid)?.report(key.container, whole);
    };
    return void programs.findMessage(handler, place, report).then(tell, () => tell(undefined));
  }

  /** Results of the probes that the agent makes itself. */
  probeTotals(uid: string): readonly ProbeTotals[] {
    return [...this.#probers.values()].flatMap((prober) => prober.totals(uid));
  }

  forget(uid: string): void {
    for (const prober of this.#probers.values()) prober.forget(uid);
  }

  /** Removes the pod's files. Nothing of it runs. */
  tearDown(uid: string): void {
    const { programs, routine } = this.#parts;
    programs?.tearDown(uid).catch((error: unknown) => {
      routine.log.warn("cannot remove the files of a pod; retrying at the next start", { uid, error });
    });
  }

  /** The pod is gone from the API. */
  removeLogs(pod: Pod): void {
    const { programs, routine, isOwn } = this.#parts;
    if (programs === undefined || !isOwn(pod)) return;
    programs.removeLogs(pod).catch((error: unknown) => {
      const { uid } = pod.metadata;
      routine.log.warn("cannot remove the logs of a pod; retrying at the next start", { uid, error });
    });
  }

  #warn({ node, pod, container }: ContainerPlace, failure: HookFailure): void {
    const fieldPath = `spec.containers{${container.name}}`;
    this.#parts.routine.event(pod, { type: "Warning", ...failure, fieldPath, host: node });
  }
}
