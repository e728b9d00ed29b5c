/** Delivers the served resources: at the start, soon after a CRD or APIService changed, and periodically. */
import type { ResourceType } from "../../api/api-object.ts";
import { CustomResourceDefinition } from "../../api/generated/types/apiextensions-v1.ts";
import { APIService } from "../../api/generated/types/apiregistration-v1.ts";
import { backoffMs } from "../../base/loop/backoff.ts";
import type { Timer, TimerKind } from "../../base/loop/loop.ts";
import { pause } from "../../base/loop/pause.ts";
import { untilAborted } from "../../base/loop/until-aborted.ts";
import type { RoutineParts } from "../../runtime/manager/routine.ts";
import { readServedResources } from "../served-resources.ts";
import type { ServedResources } from "../served-resources.ts";

/** Kinds whose changes add or remove served resources. */
export const DISCOVERY_SOURCES: readonly ResourceType[] = [CustomResourceDefinition, APIService];

/** Groups several CRD changes into one refresh, and lets the last events of removed resources arrive first. */
const DEBOUNCE_MS = 1000;
/** Interval for servers whose resources change without a CRD or APIService. */
const REFRESH_MS = 300_000;
const BACKOFF = { baseMs: 500, maxMs: 30_000 };

export class DiscoveryFeed {
  readonly #parts: RoutineParts;
  readonly #deliver: (served: ServedResources) => void;
  #leave: readonly (() => void)[] = [];
  #timer: Timer | undefined;
  #timerKind: TimerKind | undefined;
  #failures = 0;
  #reading: Promise<void> = Promise.resolve();

  constructor(parts: RoutineParts, deliver: (served: ServedResources) => void) {
    this.#parts = parts;
    this.#deliver = deliver;
  }

  /** Resolves after the first successful read, or once the signal is aborted. Tracks changes from now on. */
  async begin(signal: AbortSignal): Promise<void> {
    const changed = (): void => this.#schedule(DEBOUNCE_MS, "progress", signal);
    this.#leave = DISCOVERY_SOURCES.map((type) => this.#parts.subscribe(type, changed));
    while (!signal.aborted && !(await this.#attempt(signal))) await this.#pause(signal);
  }

  /** Runs until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    this.#schedule(REFRESH_MS, "periodic", signal);
    await untilAborted(signal);
    for (const leave of this.#leave) leave();
    this.#timer?.cancel();
    await this.#reading;
  }

  /** Schedules a refresh. A pending one that is not periodic stays, as it is due earlier. */
  #schedule(ms: number, kind: TimerKind, signal: AbortSignal): void {
    if (signal.aborted || this.#timerKind === "progress") return;
    this.#timer?.cancel();
    this.#timerKind = kind;
    const { loop } = this.#parts;
    this.#timer = loop.timer(loop.now() + ms, kind, () => {
      this.#timerKind = undefined;
      this.#reading = this.#refresh(signal);
      return this.#reading;
    });
  }

  async #refresh(signal: AbortSignal): Promise<void> {
    const isRead = await this.#attempt(signal);
    if (isRead) this.#schedule(REFRESH_MS, "periodic", signal);
    else this.#schedule(this.#backoffMs(), "progress", signal);
  }

  /** Group versions that fail are read again at the next refresh. */
  async #attempt(signal: AbortSignal): Promise<boolean> {
    const { client, log } = this.#parts;
    try {
      const served = await readServedResources(client);
      this.#failures = 0;
      if (!signal.aborted) this.#deliver(served);
      return true;
    } catch (error) {
      if (!signal.aborted) log.warn("cannot read the served resources; retrying", { error });
      return false;
    }
  }

  #backoffMs(): number {
    return backoffMs(this.#failures++, BACKOFF, this.#parts.loop.random("discovery"));
  }

  #pause(signal: AbortSignal): Promise<void> {
    return pause(this.#parts.loop, { ms: this.#backoffMs(), kind: "progress" }, signal);
  }
}
