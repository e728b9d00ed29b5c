/** Starts containers once they are prepared, and stops them after their preStop hook. */
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

/** Prepares containers that are programs of this machine. */
export interface ProgramSource {
  /** Rejects with the message of the container's status. */
  build(order: StartOrder): Promise<Program>;
  /** The message that a container left. */
  findMessage(
    handler: RuntimeHandler,
    place: ContainerPlace,
    exit: ContainerExit,
  ): Promise<string | undefined>;
}

export interface ContainerLifecycleParts {
  readonly now: () => number;
  readonly timers: TimerQueue;
  /** Receives failures before the start. */
  readonly listener: Pick<RuntimeListener, "container">;
  /** Undefined if no handler runs programs. */
  readonly programs: ProgramSource | undefined;
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

  start(handler: RuntimeHandler, order: StartOrder): void {
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

  /** A later order may shorten the times of an earlier one. */
  stop(handler: RuntimeHandler, order: StopOrder): void {
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
