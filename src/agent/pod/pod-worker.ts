/**
 * Manages one pod on its node: keeps container records, lets `planPod` decide, calls the runtime, and returns
 * the write that is due. Each pass evaluates the whole state; the reason of the wake-up does not matter.
 */
import type { Container, Pod } from "../../api/generated/types/core-v1.ts";
import type { RecordedEvent } from "../../runtime/events/recorded-event.ts";
import type {
  ContainerPlace,
  ContainerProber,
  ContainerReport,
  FoundContainer,
  ProbeType,
  RuntimeHandler,
} from "../runtime-handler.ts";
import type { TimerQueue, ScheduledCall } from "../timer-queue.ts";
import { environmentUses, checkEnvironment, type ConfigReference, type ConfigState } from "./config-needs.ts";
import {
  actionEvents,
  crashEvents,
  fieldPathOf,
  pullBackOffEvents,
  reportEvents,
} from "./container-events.ts";
import type { ContainerLifecycle } from "./container-lifecycle.ts";
import { NEW_CONTAINER, stepContainer, type ContainerRecord } from "./container-record.ts";
import type { PodAddresses } from "./environment.ts";
import { grantedByStatus, type SizeProblem } from "./granted-size.ts";
import { findShrinkProblem } from "./memory-shrink.ts";
import { PULL_ERROR_SHOWN_MS, planPod } from "./plan-pod.ts";
import { hasSandbox, isReplacing, isRunAgain, probeStatusOf, type Hold, type PodFacts } from "./pod-facts.ts";
import type { PodPlace } from "./pod-place.ts";
import type { PodAction, PodPlan } from "./pod-plan.ts";
import {
  beginPreparation,
  isPrepared,
  nextStepAt,
  PREPARED,
  stepPreparation,
  type Preparation,
} from "./pod-preparation.ts";
import { PodSize } from "./pod-size.ts";
import { DEADLINE_EXCEEDED, podStatus } from "./pod-status.ts";
import { recordAfter } from "./record-after.ts";
import { containersOf, type RoleContainer } from "./restart-policy.ts";
import { restoredRecord, trueRecord } from "./restored-record.ts";
import { findStatusPatch } from "./status-patch.ts";

export interface PodWorkerParts {
  readonly now: () => number;
  readonly timers: TimerQueue;
  readonly lifecycle: ContainerLifecycle;
  readonly proberOf: (handler: RuntimeHandler) => ContainerProber | undefined;
  /** Requests a pass for the pod. */
  readonly wake: (worker: PodWorker) => void;
  readonly event: (pod: Pod, event: RecordedEvent) => void;
  /**
   * State of an object at that time or later. Undefined when it must be read first; a pass follows the read.
   */
  readonly findConfig: (
    worker: PodWorker,
    reference: ConfigReference,
    since: number,
  ) => ConfigState | undefined;
}

/** The API write that is due after a pass. */
export type PassOutcome =
  | { readonly type: "nothing" }
  /** An optional write: no container has run or failed yet, and a more complete status follows soon. */
  | { readonly type: "step" }
  | { readonly type: "write"; readonly patch: object }
  /** All is written and no container runs: the deleted pod's object can be removed. */
  | { readonly type: "remove" }
  /** All is written, and the pod will never change again. */
  | { readonly type: "over" };

/** Exceeds the number of steps to a running container. */
const ROUNDS_MAX = 8;

export class PodWorker {
  readonly #parts: PodWorkerParts;
  #place: PodPlace;
  readonly #acceptedAt: number;
  readonly #records = new Map<string, ContainerRecord>();
  #pod: Pod;
  readonly #size: PodSize;
  #hasEnded = false;
  /** True once the Event about the deadline was sent. */
  #isDeadlineTold = false;
  #preparation: Preparation;
  #recheck: ScheduledCall | undefined;
  /** True while a pass acts: it sees the reports of its own actions. */
  #isPassing = false;

  constructor(pod: Pod, place: PodPlace, parts: PodWorkerParts) {
    this.#parts = parts;
    this.#pod = pod;
    this.#place = place;
    const startedAt = pod.status.startTime;
    this.#size = new PodSize(pod, {
      recordOf: (container) => this.#recordOf(container),
      event: (event) => parts.event(this.#pod, { ...event, host: this.#place.node }),
      wake: () => parts.wake(this),
    });
    const now = parts.now();
    this.#acceptedAt = startedAt === undefined ? now : Date.parse(startedAt);
    if (startedAt !== undefined || place.found !== undefined) this.#restore(place.found?.containers ?? []);
    // A pod with an address already had its volumes.
    const isDone = pod.status.podIP !== undefined || place.rejection !== undefined;
    this.#preparation = isDone ? PREPARED : beginPreparation(pod, now);
  }

  get pod(): Pod {
    return this.#pod;
  }

  /** The pod with the granted resources; the same object when they equal its spec. */
  get grantedPod(): Pod {
    return this.#size.grantedPod;
  }

  /** Records the node's decision about the requested size. */
  settleSize(problem: SizeProblem | undefined): void {
    this.#size.settle(problem);
  }

  get place(): PodPlace {
    return this.#place;
  }

  settleHandler(handler: RuntimeHandler): void {
    this.#place = { ...this.#place, handler };
  }

  /** Records the addresses of the new sandbox. */
  settleSandbox(addresses: readonly string[]): void {
    this.#place = { ...this.#place, addresses };
  }

  /** No more container starts. */
  get isEnding(): boolean {
    return this.#hasEnded || this.#pod.metadata.deletionTimestamp !== undefined;
  }

  /** No container runs, and none will. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Takes the newest version of the pod. */
  take(pod: Pod): void {
    this.#pod = pod;
    this.#size.take(pod);
    this.#place.handler?.update(this.#place.node, pod);
  }

  report(name: string, report: ContainerReport): void {
    const each = containersOf(this.#pod).find(({ container }) => container.name === name);
    if (each === undefined) return;
    const now = this.#parts.now();
    const before = this.#recordOf(name);
    const { container } = each;
    const probeStatus = (type: ProbeType): ReturnType<typeof probeStatusOf> =>
      probeStatusOf(this.#facts(), { container, type }, now);
    const after = stepContainer(before, report, { now, probeStatus });
    if (after === before) return;
    this.#records.set(name, after);
    this.#tell(each, reportEvents(container, report));
    if (report.type === "exited") this.#tellCrash(each, after);
    if (report.type === "pull-failed") this.#tellPullBackOff(each);
    // The running pass sees the new record.
    if (!this.#isPassing) this.#parts.wake(this);
  }

  /** Decides and acts until no action is left for this moment. */
  pass(): PassOutcome {
    const now = this.#parts.now();
    this.#prepare(now);
    this.#size.measure(this.#place.handler, now);
    const facts = this.#facts();
    const plan = this.#carryOut(facts, now);
    this.#hasEnded = plan.hasEnded;
    this.#await(plan);
    const end = { hasEnded: this.#hasEnded };
    this.#size.finish(end);
    if (!this.#size.isMeasuring) this.#size.tellShrink(findShrinkProblem(facts), end);
    if (plan.termination === undefined && (isReplacing(facts) || this.#size.isMeasuring))
      return { type: "nothing" };
    if (plan.termination === undefined && !hasSandbox(facts)) return { type: "step" };
    const patch = findStatusPatch(this.#pod, podStatus(facts, plan, now), now);
    if (patch !== undefined) return { type: "write", patch };
    if (!plan.hasEnded) return { type: "nothing" };
    const { deletionTimestamp } = this.#pod.metadata;
    return { type: deletionTimestamp === undefined ? "over" : "remove" };
  }

  /** The plan that is left, without actions. */
  #carryOut(facts: PodFacts, now: number): PodPlan {
    let plan = planPod(facts, now);
    this.#tellDeadline(plan);
    this.#isPassing = true;
    for (let round = 0; plan.actions.length > 0 && round < ROUNDS_MAX; round++) {
      for (const action of plan.actions) this.#act(action, now);
      plan = planPod(facts, now);
    }
    this.#isPassing = false;
    return plan;
  }

  /** Status patch of a pod before its first run; undefined when the status is up to date. */
  findStep(): object | undefined {
    const now = this.#parts.now();
    const facts = this.#facts();
    return findStatusPatch(this.#pod, podStatus(facts, planPod(facts, now), now), now);
  }

  /** Ends the pod in the runtime. */
  dismiss(): void {
    const { uid } = this.#pod.metadata;
    this.#parts.timers.cancel(this.#recheck);
    this.#parts.lifecycle.forget(uid);
    this.#place.handler?.removeSandbox(uid);
    this.#records.clear();
  }

  #restore(found: readonly FoundContainer[]): void {
    const { status } = this.#pod;
    const shown = [
      ...(status.initContainerStatuses ?? []),
      ...(status.containerStatuses ?? []),
      ...(status.ephemeralContainerStatuses ?? []),
    ];
    const now = this.#parts.now();
    const podLimits = grantedByStatus(this.#pod).resources?.limits;
    for (const each of shown) this.#records.set(each.name, { ...restoredRecord(each, now), podLimits });
    for (const name of new Set([...this.#records.keys(), ...found.map((each) => each.name)])) {
      const known = found.find((each) => each.name === name);
      this.#records.set(name, trueRecord(this.#recordOf(name), known, now));
    }
  }

  #prepare(now: number): void {
    if (this.#pod.metadata.deletionTimestamp !== undefined) return;
    const findConfig = (reference: ConfigReference, since: number): ConfigState | undefined =>
      this.#parts.findConfig(this, reference, since);
    const { preparation, warnings } = stepPreparation(this.#preparation, findConfig, now);
    this.#preparation = preparation;
    for (const warning of warnings) this.#warn(warning);
  }

  #findHold(): Hold | undefined {
    if (isPrepared(this.#preparation) && this.#place.addresses !== undefined) return undefined;
    return { tryAt: nextStepAt(this.#preparation, this.#parts.now()) };
  }

  /** The records are the worker's own map and change with it. */
  #facts(): PodFacts {
    const { findConfig } = this.#parts;
    return {
      pod: this.#size.grantedPod,
      records: this.#records,
      acceptedAt: this.#acceptedAt,
      hostAddresses: this.#place.hostAddresses,
      addresses: this.#place.addresses ?? [],
      rejection: this.#place.rejection,
      sizeProblem: this.#size.problem,
      hold: this.#findHold(),
      probeOf: (container, type) => this.#prober()?.probeOf(this.#in(container), type),
      isMeasuring: this.#size.isMeasuring,
      memoryUsedBy: ({ name }) => this.#size.memoryOf(name),
      hasOutsideEnvironment: (container) => environmentUses(this.#pod, container).length > 0,
      checkEnvironment: (container, since) =>
        checkEnvironment(environmentUses(this.#pod, container), (reference) =>
          findConfig(this, reference, since),
        ),
    };
  }

  #prober(): ContainerProber | undefined {
    const { handler } = this.#place;
    return handler && this.#parts.proberOf(handler);
  }

  #addresses(): PodAddresses {
    const { hostAddresses, addresses = [] } = this.#place;
    return { hostAddresses, addresses };
  }

  findContainer(name: string): ContainerPlace | undefined {
    const each = containersOf(this.#pod).find(({ container }) => container.name === name);
    return each && this.#in(each.container);
  }

  #recordOf(name: string): ContainerRecord {
    return this.#records.get(name) ?? NEW_CONTAINER;
  }

  #in(container: Container): ContainerPlace {
    return { node: this.#place.node, pod: this.#pod, container };
  }

  /** Changes the record before the runtime call, because the runtime may report at once. */
  #act(action: PodAction, now: number): void {
    const { container } = action;
    const record = this.#recordOf(container.name);
    const each = containersOf(this.#pod).find((it) => it.container.name === container.name);
    // A stop before the start causes no Event.
    const isSilent = action.type === "stop" && record.phase.type !== "running";
    if (each !== undefined && !isSilent) this.#tell(each, actionEvents(action));
    const podLimits = this.#size.grantedPod.spec.resources?.limits;
    this.#records.set(container.name, recordAfter(record, action, { now, podLimits }));
    this.#ask(action, record.exit === undefined ? 0 : record.restartCount + 1);
  }

  #ask(action: PodAction, attempt: number): void {
    const { lifecycle } = this.#parts;
    const { handler } = this.#place;
    // A pod without a handler has no sandbox, and gets no actions but stops.
    if (handler === undefined) return undefined;
    const place = this.#in(action.container);
    switch (action.type) {
      case "inspect":
        return handler.findImage(place);
      case "pull":
        return handler.pull(place);
      case "start":
        return lifecycle.start(handler, { ...place, attempt, addresses: this.#addresses() });
      case "probe":
        return this.#prober()?.probe(place, action.probe);
      case "stop":
        return lifecycle.stop(handler, { ...place, ...action });
      case "lookup":
      case "refuse":
      case "resize":
      case "reset":
        return undefined;
    }
  }

  #await({ recheck }: PodPlan): void {
    if (this.#recheck?.at === recheck?.at && this.#recheck?.kind === recheck?.kind) {
      if (this.#recheck === undefined || this.#recheck.index >= 0) return;
    }
    this.#parts.timers.cancel(this.#recheck);
    this.#recheck =
      recheck === undefined
        ? undefined
        : this.#parts.timers.add(recheck.at, recheck.kind, () => this.#parts.wake(this));
  }

  #tellDeadline({ termination }: PodPlan): void {
    if (this.#isDeadlineTold || termination?.type !== "deadline") return;
    this.#isDeadlineTold = true;
    this.#parts.event(this.#pod, { type: "Normal", ...DEADLINE_EXCEEDED, host: this.#place.node });
  }

  #tellCrash(each: RoleContainer, record: ContainerRecord): void {
    const isOver = this.#pod.metadata.deletionTimestamp !== undefined;
    const { exit } = record;
    if (isOver || exit === undefined || exit.isReplaced === true || !isRunAgain(this.#facts(), each, exit))
      return;
    this.#tell(each, crashEvents(this.#pod, each.container, record));
  }

  #tellPullBackOff(each: RoleContainer): void {
    const { timers, now } = this.#parts;
    timers.add(now() + PULL_ERROR_SHOWN_MS, "periodic", () => {
      const { phase } = this.#recordOf(each.container.name);
      if (phase.type === "unpullable") this.#tell(each, pullBackOffEvents(each.container));
    });
  }

  #warn(what: Pick<RecordedEvent, "reason" | "message">): void {
    this.#parts.event(this.#pod, { type: "Warning", ...what, host: this.#place.node });
  }

  #tell(each: RoleContainer, events: readonly Pick<RecordedEvent, "type" | "reason" | "message">[]): void {
    const fieldPath = fieldPathOf(each);
    for (const { type, reason, message } of events) {
      this.#parts.event(this.#pod, { type, reason, message, fieldPath, host: this.#place.node });
    }
  }
}
