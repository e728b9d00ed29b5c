/** Starts containers once they are prepared, runs their hooks, and stops them after the preStop hook. */
import type { LifecycleHandler } from "../../api/generated/types/core-v1.ts";
import { plainNumber } from "../../api/values/plain-number.ts";
import { errorText } from "../../base/error-text.ts";
import type {
  ContainerExit,
  ContainerKey,
  ContainerPlace,
  Program,
  RuntimeHandler,
  RuntimeListener,
} from "../runtime-handler.ts";
import type { ScheduledCall, TimerQueue } from "../timer-queue.ts";
import type { PodAddresses } from "./environment.ts";

/** The parts of a handler that starts, stops and hooks need. */
export type LifecycleRuntime = Pick<
  RuntimeHandler,
  "runsPrograms" | "start" | "stop" | "exec" | "dial" | "logs"
>;

/** Prepares containers that are programs of this machine. */
export interface ProgramSource {
  /** Rejects with the message of the container's status. */
  build(order: StartOrder): Promise<Program>;
  /** The message that a container left. */
  findMessage(
    handler: LifecycleRuntime,
    place: ContainerPlace,
    exit: ContainerExit,
  ): Promise<string | undefined>;
}

/** Runs hooks of containers that are programs. */
export interface HookRunner {
  /** Never rejects. */
  run(
    handler: LifecycleRuntime,
    hook: { readonly place: ContainerPlace; readonly action: LifecycleHandler },
    limits: { readonly timeoutMs: number },
  ): Promise<{ readonly isSuccess: boolean; readonly message: string }>;
}

/** Warning about a hook. */
export interface HookFailure {
  readonly reason: "FailedPostStartHook" | "FailedPreStopHook";
  readonly message: string;
}

export interface ContainerLifecycleParts {
  readonly now: () => number;
  readonly timers: TimerQueue;
  /** Receives failures before the start. */
  readonly listener: Pick<RuntimeListener, "container">;
  /** Undefined if no handler runs programs. */
  readonly programs: ProgramSource | undefined;
  readonly hooks: HookRunner;
  readonly warn: (place: ContainerPlace, failure: HookFailure) => void;
}

export interface StartOrder extends ContainerPlace {
  readonly attempt: number;
  readonly addresses: PodAddresses;
}

export interface StopOrder extends ContainerPlace {
  /** Time until the stop signal. */
  readonly delayMs: number;
  /** Time until the kill; longer than the delay. */
  readonly graceMs: number;
}

/** Minimum time for a container to end after its preStop hook. */
const LAST_GRACE_MS = 2000;
/** Upper bound of a postStart hook. */
const POST_START_MAX_MS = 600_000;

interface PendingStop {
  readonly signalAt: number;
  readonly killAt: number;
  readonly call: ScheduledCall;
}

export class ContainerLifecycle {
  readonly #parts: ContainerLifecycleParts;
  /** Stops whose signal is still to be sent. */
  readonly #stops = new PerContainer<PendingStop>();
  /** Starts that are being prepared. */
  readonly #starts = new PerContainer<StartOrder>();

  constructor(parts: ContainerLifecycleParts) {
    this.#parts = parts;
  }

  start(handler: LifecycleRuntime, order: StartOrder): void {
    const { node, pod, container, attempt } = order;
    const { programs } = this.#parts;
    const start = { node, pod, container, attempt };
    if (!handler.runsPrograms || programs === undefined)
      return handler.start({ ...start, program: undefined });
    const key = keyOf(order);
    this.#starts.set(key, order);
    // A stop meanwhile drops the start.
    const isWanted = (): boolean => this.#starts.find(key) === order && this.#starts.take(key) !== undefined;
    return void programs.build(order).then(
      (program) => {
        if (isWanted()) handler.start({ ...start, program });
      },
      (error: unknown) => {
        if (!isWanted()) return;
        const reason = "CreateContainerConfigError";
        this.#parts.listener.container(key, { type: "start-failed", reason, message: errorText(error) });
      },
    );
  }

  /** Runs the postStart hook. The container restarts when it fails. */
  started(handler: LifecycleRuntime, place: ContainerPlace): void {
    const { hooks, warn } = this.#parts;
    const action = place.container.lifecycle?.postStart;
    if (action === undefined || !handler.runsPrograms) return;
    const graceMs = plainNumber(place.pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
    const fail = (message: string): void => {
      warn(place, { reason: "FailedPostStartHook", message: `PostStartHook failed: ${message}` });
      handler.stop(keyOf(place), { signal: place.container.lifecycle?.stopSignal, graceMs });
    };
    if (action.sleep !== undefined) return;
    void hooks
      .run(handler, { place, action }, { timeoutMs: POST_START_MAX_MS })
      .then(({ isSuccess, message }) => {
        if (!isSuccess) fail(message);
      });
  }

  /** A later order may shorten the times of an earlier one. */
  stop(handler: LifecycleRuntime, order: StopOrder): void {
    const hook = order.container.lifecycle?.preStop;
    const isProgram = handler.runsPrograms && (hook?.exec ?? hook?.httpGet) !== undefined;
    if (hook === undefined || !isProgram || this.#stops.find(keyOf(order)) !== undefined)
      return this.#stop(handler, order);
    // The hook may use the whole grace period.
    const wait = { delayMs: order.graceMs, graceMs: order.graceMs + LAST_GRACE_MS };
    this.#stop(handler, { ...order, ...wait });
    const pending = this.#stops.find(keyOf(order));
    const { hooks, warn, now } = this.#parts;
    const endsAt = now() + order.graceMs;
    return void hooks
      .run(handler, { place: order, action: hook }, { timeoutMs: order.graceMs })
      .then(({ isSuccess, message }) => {
        if (!isSuccess)
          warn(order, { reason: "FailedPreStopHook", message: `PreStopHook failed: ${message}` });
        if (pending !== undefined && this.#stops.find(keyOf(order)) === pending)
          this.#stop(handler, { ...order, delayMs: 0, graceMs: Math.max(LAST_GRACE_MS, endsAt - now()) });
      });
  }

  #stop(handler: LifecycleRuntime, order: StopOrder): void {
    const { now, timers } = this.#parts;
    const { container, delayMs, graceMs } = order;
    const key = keyOf(order);
    this.#starts.take(key);
    const known = this.#stops.take(key);
    timers.cancel(known?.call);
    const signalAt = Math.min(now() + delayMs, known?.signalAt ?? Infinity);
    const killAt = Math.min(now() + graceMs, known?.killAt ?? Infinity);
    const send = (): void => {
      handler.stop(key, { signal: container.lifecycle?.stopSignal, graceMs: killAt - now() });
    };
    if (signalAt <= now()) return send();
    const call = timers.add(signalAt, "progress", () => {
      this.#stops.take(key);
      send();
    });
    return this.#stops.set(key, { signalAt, killAt, call });
  }

  /** The container has ended by itself. */
  ended(key: ContainerKey): void {
    this.#parts.timers.cancel(this.#stops.take(key)?.call);
  }

  forget(uid: string): void {
    for (const { call } of this.#stops.forget(uid)) this.#parts.timers.cancel(call);
    this.#starts.forget(uid);
  }
}

/** Values by pod uid, then by container. */
class PerContainer<Value> {
  readonly #values = new Map<string, Map<string, Value>>();

  find({ uid, container }: ContainerKey): Value | undefined {
    return this.#values.get(uid)?.get(container);
  }

  set({ uid, container }: ContainerKey, value: Value): void {
    const ofPod = this.#values.get(uid) ?? new Map<string, Value>();
    this.#values.set(uid, ofPod.set(container, value));
  }

  take({ uid, container }: ContainerKey): Value | undefined {
    const ofPod = this.#values.get(uid);
    const found = ofPod?.get(container);
    if (ofPod?.delete(container) === true && ofPod.size === 0) this.#values.delete(uid);
    return found;
  }

  forget(uid: string): readonly Value[] {
    const found = [...(this.#values.get(uid)?.values() ?? [])];
    this.#values.delete(uid);
    return found;
  }
}

function keyOf({ pod, container }: ContainerPlace): ContainerKey {
  return { uid: pod.metadata.uid, container: container.name };
}
