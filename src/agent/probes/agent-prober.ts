/** Runs the probes of one handler's containers, each with its period, until the container ends. */
import type { Probe } from "../../api/generated/types/core-v1.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type {
  ContainerKey,
  ContainerPlace,
  ContainerProber,
  ProbeType,
  RuntimeListener,
} from "../runtime-handler.ts";
import type { ScheduledCall, TimerQueue } from "../timer-queue.ts";
import type { CheckedHandler, ContainerChecks } from "./container-checks.ts";
import { ProbeCounters, type ProbeTotals } from "./probe-totals.ts";

export interface AgentProberParts {
  readonly loop: Loop;
  readonly timers: TimerQueue;
  readonly listener: Pick<RuntimeListener, "container">;
  readonly handler: CheckedHandler;
  readonly checks: ContainerChecks;
}

/** A probe of one run of a container. */
interface Probing {
  readonly place: ContainerPlace;
  readonly type: ProbeType;
  readonly probe: Probe;
  next: ScheduledCall | undefined;
  last: "success" | "failure" | undefined;
  /** Number of consecutive equal results. */
  count: number;
  hasEnded: boolean;
}

const DEFAULT_PERIOD_SECONDS = 10;

export class AgentProber implements ContainerProber {
  readonly #parts: AgentProberParts;
  /** By pod uid, then by container. */
  readonly #probings = new Map<string, Map<string, readonly Probing[]>>();
  readonly #counters = new ProbeCounters();

  constructor(parts: AgentProberParts) {
    this.#parts = parts;
  }

  probeOf({ container }: ContainerPlace, type: ProbeType): Probe | undefined {
    if (type === "startup") return container.startupProbe;
    return type === "liveness" ? container.livenessProbe : container.readinessProbe;
  }

  probe(place: ContainerPlace, type: ProbeType): void {
    const probe = this.probeOf(place, type);
    if (probe === undefined) return;
    const { uid } = place.pod.metadata;
    const probing: Probing = {
      place,
      type,
      probe,
      next: undefined,
      last: undefined,
      count: 0,
      hasEnded: false,
    };
    const ofPod = this.#probings.get(uid) ?? new Map<string, readonly Probing[]>();
    const { name } = place.container;
    this.#probings.set(uid, ofPod.set(name, [...(ofPod.get(name) ?? []), probing]));
    this.#schedule(probing, (probe.initialDelaySeconds ?? 0) * 1000);
  }

  /** The container has ended. */
  ended({ uid, container }: ContainerKey): void {
    const ofPod = this.#probings.get(uid);
    for (const probing of ofPod?.get(container) ?? []) this.#end(probing);
    ofPod?.delete(container);
  }

  forget(uid: string): void {
    for (const container of this.#probings.get(uid)?.keys() ?? []) this.ended({ uid, container });
    this.#probings.delete(uid);
    this.#counters.forget(uid);
  }

  /** Results of the pod's probes. */
  totals(uid: string): readonly ProbeTotals[] {
    return this.#counters.find(uid);
  }

  #end(probing: Probing): void {
    probing.hasEnded = true;
    this.#parts.timers.cancel(probing.next);
  }

  #schedule(probing: Probing, delayMs: number): void {
    const { loop, timers } = this.#parts;
    probing.next = timers.add(loop.now() + delayMs, "periodic", () => void this.#run(probing));
  }

  /** The next check begins one period after this one began, or at its end if that is later. */
  async #run(probing: Probing): Promise<void> {
    const { loop, checks, handler } = this.#parts;
    const { place, probe } = probing;
    const startedAt = loop.now();
    const timeoutMs = (probe.timeoutSeconds ?? 1) * 1000;
    const { isSuccess, message } = await checks.run(handler, { place, action: probe }, { timeoutMs });
    if (probing.hasEnded) return;
    const result = isSuccess ? "success" : "failure";
    this.#counters.count(
      { uid: place.pod.metadata.uid, container: place.container.name },
      probing.type,
      result,
    );
    probing.count = result === probing.last ? probing.count + 1 : 1;
    probing.last = result;
    const periodMs = Math.max(1, probe.periodSeconds ?? DEFAULT_PERIOD_SECONDS) * 1000;
    this.#schedule(probing, Math.max(0, startedAt + periodMs - loop.now()));
    this.#report(probing, message);
  }

  /** Further equal results after the threshold change nothing. */
  #report({ place, type, probe, last, count }: Probing, message: string): void {
    const { successThreshold = 1, failureThreshold = 3 } = probe;
    const threshold = last === "success" ? successThreshold : failureThreshold;
    if (last === undefined || count > Math.max(1, threshold)) return;
    const key = { uid: place.pod.metadata.uid, container: place.container.name };
    const at = this.#parts.loop.now();
    this.#parts.listener.container(key, { type: "probed", probe: type, result: last, at, message, count });
  }
}
