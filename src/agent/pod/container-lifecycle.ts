/** Starts containers, and stops them after their preStop hook. */
import type { ContainerPlace, RuntimeHandler } from "../runtime-handler.ts";
import type { ScheduledCall, TimerQueue } from "../timer-queue.ts";

export interface ContainerLifecycleParts {
  readonly now: () => number;
  readonly timers: TimerQueue;
}

export interface StartOrder extends ContainerPlace {
  readonly attempt: number;
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
  /** Stops whose signal is still to be sent: by pod uid, then by container. */
  readonly #pending = new Map<string, Map<string, PendingStop>>();

  constructor(parts: ContainerLifecycleParts) {
    this.#parts = parts;
  }

  start(handler: RuntimeHandler, order: StartOrder): void {
    handler.start({ ...order, program: undefined });
  }

  /** A later order may shorten the times of an earlier one. */
  stop(handler: RuntimeHandler, { pod, container, delayMs, graceMs }: StopOrder): void {
    const { now, timers } = this.#parts;
    const { uid } = pod.metadata;
    const known = this.#take(uid, container.name);
    timers.cancel(known?.call);
    const signalAt = Math.min(now() + delayMs, known?.signalAt ?? Infinity);
    const killAt = Math.min(now() + graceMs, known?.killAt ?? Infinity);
    const send = (): void => {
      const order = { signal: container.lifecycle?.stopSignal, graceMs: killAt - now() };
      handler.stop({ uid, container: container.name }, order);
    };
    if (signalAt <= now()) return send();
    const call = timers.add(signalAt, "progress", () => {
      this.#take(uid, container.name);
      send();
    });
    const ofPod = this.#pending.get(uid) ?? new Map<string, PendingStop>();
    this.#pending.set(uid, ofPod.set(container.name, { signalAt, killAt, call }));
  }

  /** The container has ended by itself. */
  ended(uid: string, container: string): void {
    this.#parts.timers.cancel(this.#take(uid, container)?.call);
  }

  forget(uid: string): void {
    for (const { call } of this.#pending.get(uid)?.values() ?? []) this.#parts.timers.cancel(call);
    this.#pending.delete(uid);
  }

  #take(uid: string, container: string): PendingStop | undefined {
    const ofPod = this.#pending.get(uid);
    const found = ofPod?.get(container);
    if (ofPod?.delete(container) === true && ofPod.size === 0) this.#pending.delete(uid);
    return found;
  }
}
