/**
 * Leader election: of several instances, the one that holds and renews a Lease leads. The others take over once they
 * have not seen a renewal for the whole lease duration. Each instance measures that by its own clock: the times
 * written in the Lease are for people and are never compared.
 *
 * The leader stops `renewDeadlineMs` after it began its last successful renewal, before another instance may start. A
 * request that has already reached the server may still take effect; no lease can prevent that.
 */
import { isApiError } from "../../api/errors/api-error.ts";
import { Lease, type LeaseSpec } from "../../api/generated/types/coordination-v1.ts";
import { microTimeText } from "../../api/values/time.ts";
import { assert } from "../../base/assert.ts";
import type { Log } from "../../base/log/log.ts";
import type { Loop, Timer } from "../../base/loop/loop.ts";
import { pause } from "../../base/loop/pause.ts";
import { wholeSecondWithin } from "../../base/loop/whole-second.ts";
import type { Client, ResourceClient } from "../../client/client.ts";
import type { EventSink } from "../events/event-correlation.ts";
import { findObstacle, findRequestFailure } from "../obstacle/obstacle.ts";
import { Obstacles } from "../obstacle/obstacles.ts";

/** Settings of the leader election of a manager. */
export interface LeaderElectionOptions {
  /** Name of the Lease. */
  readonly name: string;
  /** Namespace of the Lease. */
  readonly namespace: string;
  /** Name of this instance. Two instances must never have the same. */
  readonly identity: string;
  /**
   * Time without a renewal after which another instance may take the lease, in milliseconds. At least 1,000. Default:
   * 15,000.
   */
  readonly leaseDurationMs?: number;
  /**
   * Time without a successful renewal after which the leader stops, in milliseconds. Less than `leaseDurationMs`.
   * Default: 10,000.
   */
  readonly renewDeadlineMs?: number;
  /**
   * Pause between attempts to take or renew the lease, in milliseconds. Less than `renewDeadlineMs`. Default: 2,000.
   */
  readonly retryPeriodMs?: number;
}

export interface LeaderElectionParts {
  readonly loop: Loop;
  readonly log: Log;
  readonly client: Client;
  readonly recorder: EventSink;
}

/** The abort reason of the work that only the leader does, once the lead is lost. */
export class LeadershipLostError extends Error {
  override readonly name = "LeadershipLostError";
}

/** Share of the retry period that is added at random, so that instances do not retry at the same moment. */
const JITTER = 0.2;
/** Duration in a released Lease, so that the next leader need not wait. */
const RELEASED_SECONDS = 1;

type Attempt =
  | { readonly type: "held" }
  /** Another instance holds the lease, which expires in `expiresInMs` unless renewed. */
  | { readonly type: "refused"; readonly expiresInMs: number };

export class LeaderElection {
  readonly #options: Required<LeaderElectionOptions>;
  readonly #loop: Loop;
  readonly #log: Log;
  readonly #leases: ResourceClient<Lease>;
  readonly #recorder: EventSink;
  readonly #obstacles: Obstacles;
  /** The newest Lease that was read or written, and when this instance first saw that revision (elapsed time). */
  #observed: { readonly lease: Lease; readonly at: number } | undefined;
  #state: "waiting" | "leading" = "waiting";

  constructor(options: LeaderElectionOptions, { loop, log, client, recorder }: LeaderElectionParts) {
    const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = options;
    assert(leaseDurationMs >= 1000, "a lease lasts at least a second");
    assert(renewDeadlineMs < leaseDurationMs, "a leader gives up before its lease ends");
    assert(
      retryPeriodMs > 0 && retryPeriodMs < renewDeadlineMs,
      "a lease is renewed before the leader gives up",
    );
    this.#options = { ...options, leaseDurationMs, renewDeadlineMs, retryPeriodMs };
    this.#loop = loop;
    this.#log = log.with({ lease: `${options.namespace}/${options.name}`, identity: options.identity });
    this.#leases = client(Lease);
    this.#recorder = recorder;
    this.#obstacles = new Obstacles(this.#log);
  }

  get isLeading(): boolean {
    return this.#state === "leading";
  }

  /** Reason why this instance can neither take nor renew the lease. */
  health(): string | undefined {
    return this.#obstacles.health();
  }

  /** The last known holder of the lease; undefined when it has none. */
  get leader(): string | undefined {
    return this.#observed?.lease.spec.holderIdentity || undefined;
  }

  /**
   * Waits for the lead, then calls `work` with a signal that is aborted when the lead is lost. Afterwards it waits
   * for the lead again. Resolves when the signal is aborted, the work has ended and the lease is released; rejects
   * when the work does.
   */
  async run(signal: AbortSignal, work: (lead: AbortSignal) => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      const isAcquired = await this.#acquire(signal);
      if (isAcquired) await this.#lead(signal, work);
    }
  }

  /** False when the signal is aborted first. */
  async #acquire(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      const { retryPeriodMs } = this.#options;
      const attempt = await this.#attempt(this.#loop.elapsed() + retryPeriodMs * 2, signal);
      if (attempt?.type === "held") return true;
      const jittered = retryPeriodMs * (1 + JITTER * this.#loop.random("election").next());
      const expiresInMs = attempt?.expiresInMs ?? Infinity;
      const pauseMs = Math.min(jittered, Math.max(1, expiresInMs));
      await this.#pauseUntil(this.#loop.now() + pauseMs, signal);
    }
    return false;
  }

  async #lead(signal: AbortSignal, work: (lead: AbortSignal) => Promise<void>): Promise<void> {
    const lead = new AbortController();
    const end = (): void => lead.abort(signal.reason);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    this.#state = "leading";
    this.#announce("became leader");
    const worked = work(lead.signal).finally(() =>
      lead.abort(new LeadershipLostError("the work of the leader has ended")),
    );
    const renewed = this.#renew(lead);
    try {
      await worked;
    } finally {
      await renewed;
      signal.removeEventListener("abort", end);
      this.#state = "waiting";
      this.#announce("stopped leading");
      await this.#release();
    }
  }

  /** Renews until the lead ends. Ends the lead itself when the lease cannot be renewed before the deadline. */
  async #renew(lead: AbortController): Promise<void> {
    const { renewDeadlineMs, retryPeriodMs } = this.#options;
    let deadline = this.#loop.elapsed() + renewDeadlineMs;
    let guard = this.#guard(lead, deadline);
    while (!lead.signal.aborted) {
      await this.#pauseUntil(wholeSecondWithin(this.#loop.now(), retryPeriodMs), lead.signal);
      const begunAt = this.#loop.elapsed();
      const attempt = lead.signal.aborted ? undefined : await this.#attempt(deadline, lead.signal);
      if (attempt?.type === "refused")
        lead.abort(new LeadershipLostError(`${this.leader ?? "no instance"} holds the lease`));
      if (attempt?.type !== "held") continue;
      deadline = begunAt + renewDeadlineMs;
      guard.cancel();
      guard = this.#guard(lead, deadline);
    }
    guard.cancel();
  }

  #guard(lead: AbortController, deadline: number): Timer {
    const at = this.#loop.now() + (deadline - this.#loop.elapsed());
    return this.#loop.timer(at, "periodic", () => {
      this.#log.error("the lease could not be renewed in time; this instance stops leading");
      lead.abort(new LeadershipLostError("the lease could not be renewed in time"));
    });
  }

  /**
   * Takes or renews the lease unless another instance holds it. Undefined when the request fails or misses the
   * deadline.
   */
  async #attempt(deadline: number, signal: AbortSignal): Promise<Attempt | undefined> {
    const limit = new AbortController();
    const end = (): void => limit.abort(signal.reason);
    signal.addEventListener("abort", end, { once: true });
    const at = this.#loop.now() + Math.max(0, deadline - this.#loop.elapsed());
    const timer = this.#loop.timer(at, "periodic", () => limit.abort(new Error("no response in time")));
    try {
      const attempt = await this.#tryToHold(limit.signal);
      this.#noteOutcome(undefined);
      return attempt;
    } catch (error) {
      if (!signal.aborted && !this.#noteOutcome(error))
        this.#log.warn("the lease could not be read or written", { error });
      return undefined;
    } finally {
      timer.cancel();
      signal.removeEventListener("abort", end);
    }
  }

  /** True when the lease cannot be held until a person acts. */
  #noteOutcome(error: unknown): boolean {
    const { name: loop, namespace } = this.#options;
    const failure = findRequestFailure(error);
    const obstacle = failure && findObstacle(failure, { loop, namespace });
    this.#obstacles.note("lease", { loop, obstacle, fields: { error } });
    return obstacle !== undefined;
  }

  /** Undefined when another instance wrote first. */
  async #tryToHold(signal: AbortSignal): Promise<Attempt | undefined> {
    const { name, namespace } = this.#options;
    const own = this.isLeading ? this.#observed?.lease : undefined;
    if (own !== undefined && (await this.#tryWrite(own, signal))) return { type: "held" };
    const lease = await this.#leases.find({ name, namespace }, { signal });
    if (lease === undefined) return (await this.#tryCreate(signal)) ? { type: "held" } : undefined;
    this.#observe(lease);
    const expiresInMs = this.#expiresInMs(lease);
    if (expiresInMs > 0) return { type: "refused", expiresInMs };
    return (await this.#tryWrite(lease, signal)) ? { type: "held" } : undefined;
  }

  /**
   * Milliseconds until this instance may take the lease; 0 when it holds the lease or the lease has no holder. A
   * leader never retakes a lease it has lost.
   */
  #expiresInMs({ spec }: Lease): number {
    const { holderIdentity = "", leaseDurationSeconds = 0 } = spec;
    if (holderIdentity === this.#options.identity) return 0;
    if (this.isLeading) return Infinity;
    if (holderIdentity === "" || this.#observed === undefined) return 0;
    return this.#observed.at + leaseDurationSeconds * 1000 - this.#loop.elapsed();
  }

  async #tryCreate(signal: AbortSignal): Promise<boolean> {
    const { name, namespace } = this.#options;
    try {
      const spec = this.#nextSpec(undefined);
      this.#observe(await this.#leases.create({ metadata: { name, namespace }, spec }, { signal }));
      return true;
    } catch (error) {
      if (isApiError(error, "AlreadyExists")) return false;
      throw error;
    }
  }

  /** False when another instance wrote first. */
  #tryWrite(lease: Lease, signal: AbortSignal): Promise<boolean> {
    return this.#tryUpdate({ ...lease, spec: { ...lease.spec, ...this.#nextSpec(lease.spec) } }, signal);
  }

  async #tryUpdate(lease: Lease, signal: AbortSignal): Promise<boolean> {
    try {
      this.#observe(await this.#leases.update(lease, { signal }));
      return true;
    } catch (error) {
      if (isApiError(error, "Conflict") || isApiError(error, "NotFound")) return false;
      throw error;
    }
  }

  #nextSpec(previous: LeaseSpec | undefined): LeaseSpec {
    const { identity, leaseDurationMs } = this.#options;
    const now = this.#timeText();
    const isRenewal = previous?.holderIdentity === identity;
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
      acquireTime: (isRenewal ? previous.acquireTime : undefined) ?? now,
      renewTime: now,
      leaseTransitions: (previous?.leaseTransitions ?? 0) + (isRenewal || previous === undefined ? 0 : 1),
    };
  }

  #observe(lease: Lease): void {
    if (lease.metadata.resourceVersion === this.#observed?.lease.metadata.resourceVersion) return;
    this.#observed = { lease, at: this.#loop.elapsed() };
  }

  /** Releases the lease, so that the next leader does not have to wait until it expires. Best effort. */
  async #release(): Promise<void> {
    const limit = new AbortController();
    const at = this.#loop.now() + this.#options.retryPeriodMs;
    const timer = this.#loop.timer(at, "periodic", () => limit.abort(new Error("no response in time")));
    try {
      if (await this.#tryRelease(this.#observed?.lease, limit.signal)) return;
      // A renewal in flight when the lead ended may have been stored: its response was dropped.
      const { name, namespace } = this.#options;
      await this.#tryRelease(
        await this.#leases.find({ name, namespace }, { signal: limit.signal }),
        limit.signal,
      );
    } catch (error) {
      this.#log.info("the lease could not be released; it expires on its own", { error });
    } finally {
      timer.cancel();
    }
  }

  /** False when the lease was written since. A lease of another instance counts as released. */
  async #tryRelease(lease: Lease | undefined, signal: AbortSignal): Promise<boolean> {
    if (lease?.spec.holderIdentity !== this.#options.identity) return true;
    const now = this.#timeText();
    const spec = {
      ...lease.spec,
      holderIdentity: "",
      leaseDurationSeconds: RELEASED_SECONDS,
      acquireTime: now,
      renewTime: now,
    };
    return this.#tryUpdate({ ...lease, spec }, signal);
  }

  #announce(change: "became leader" | "stopped leading"): void {
    const { identity } = this.#options;
    this.#log.info(change);
    const about = this.#observed?.lease;
    if (about === undefined) return;
    const message = `${identity} ${change}`;
    this.#recorder.record({
      component: "leader-election",
      about,
      event: { type: "Normal", reason: "LeaderElection", message },
    });
  }

  #timeText(): string {
    return microTimeText(this.#loop.now());
  }

  /** Resolves at `at`, or early when the signal is aborted. Never rejects. */
  #pauseUntil(at: number, signal: AbortSignal): Promise<void> {
    return pause(this.#loop, { ms: at - this.#loop.now(), kind: "periodic" }, signal);
  }
}
