/**
 * Maintains the condition `Available` and the discovery of each API of an extension server. Each API has its own loop, so that an
 * unresponsive server delays no other. A check runs periodically and when the Service changes.
 */
import { isApiError } from "../../api/errors/api-error.ts";
import type { APIService } from "../../api/generated/types/apiregistration-v1.ts";
import { timeText } from "../../api/values/time.ts";
import type { Log } from "../../base/log/log.ts";
import { backoffMs } from "../../base/loop/backoff.ts";
import { pause } from "../../base/loop/pause.ts";
import { isStoreError } from "../../store/store-error.ts";
import type { OpenEgress } from "../egress/create-egress.ts";
import type { Registry } from "../objects/registry.ts";
import { requireStored } from "../objects/registry.ts";
import { ServerWriter } from "../upkeep/server-writer.ts";
import type { WriteParts } from "../verbs/writing.ts";
import type { Place } from "../write/object-writer.ts";
import type { AvailabilityObserver } from "./availability-metrics.ts";
import { findObstacle, LOCAL, plannedConditions, withCut } from "./availability.ts";
import type { Availability } from "./availability.ts";
import { followKeys, waitForChange } from "./followed-keys.ts";
import { API_SERVICES } from "./remote-apis.ts";
import type { RemoteApi, RemoteApis } from "./remote-apis.ts";
import { checkRemote } from "./remote-check.ts";
import type { CheckParts } from "./remote-check.ts";
import type { RemoteDiscovery } from "./remote-discovery.ts";

export interface RemoteParts extends WriteParts {
  readonly log: Log;
  readonly registry: Registry;
  readonly egress: OpenEgress;
}

export interface RemoteUpkeepParts extends CheckParts {
  readonly verbParts: RemoteParts;
  readonly apis: RemoteApis;
  readonly discovery: RemoteDiscovery;
  readonly onLook?: AvailabilityObserver;
}

/** Same as upstream's. */
const RECHECK_MS = 30_000;
const BACKOFF = { baseMs: 500, maxMs: RECHECK_MS };
/** Interval of the checks while endpoints change fast. */
const DEBOUNCE_MS = 100;

interface Kept {
  readonly edition: string;
  readonly ending: AbortController;
  readonly ended: Promise<void>;
}

export class RemoteApiUpkeep {
  readonly #parts: RemoteUpkeepParts;
  readonly #writer: ServerWriter;
  /** Keyed by the name of the APIService. */
  readonly #kept = new Map<string, Kept>();
  /** Functions that end the wait of an API's loop. */
  readonly #wakers = new Map<string, () => void>();
  #isFollowing = false;

  constructor(parts: RemoteUpkeepParts) {
    this.#parts = parts;
    this.#writer = new ServerWriter(parts.verbParts);
  }

  /** Whether all existing APIServices have been read and changes are watched. */
  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { verbParts, apis } = this.#parts;
    try {
      apis.follow();
      const following = followKeys(verbParts, { prefix: API_SERVICES, signal }, (key) =>
        this.#note(key.slice(API_SERVICES.length)),
      );
      // The first reads happen synchronously when following begins.
      this.#isFollowing = true;
      await following;
    } finally {
      const kept = [...this.#kept.values()];
      for (const { ending } of kept) ending.abort();
      await Promise.all(kept.map(({ ended }) => ended));
    }
  }

  /** Checks the server again at once, after a request could not reach it. */
  suspect(name: string): void {
    this.#wakers.get(name)?.();
  }

  #note(name: string): void {
    const { apis, discovery, verbParts } = this.#parts;
    const api = apis.note(name);
    const kept = this.#kept.get(name);
    if (kept !== undefined && kept.edition === api?.edition) return;
    kept?.ending.abort();
    this.#kept.delete(name);
    if (api === undefined) {
      if (kept === undefined) return;
      discovery.forget(name);
      // An existing APIService without a server is local.
      verbParts.loop.post("background", () => this.#tell(name, LOCAL));
      return;
    }
    const ending = new AbortController();
    const ended = (kept?.ended ?? Promise.resolve()).then(() => this.#keep(api, ending.signal));
    this.#kept.set(name, { edition: api.edition, ending, ended });
  }

  async #keep(api: RemoteApi, signal: AbortSignal): Promise<void> {
    const { loop, store, log } = this.#parts.verbParts;
    const random = loop.random("remote-apis");
    for (let failures = 0; !signal.aborted;) {
      const after = store.view.revision;
      const facts = this.#facts(api);
      try {
        const isAvailable = await this.#look(api, signal);
        failures = isAvailable ? 0 : failures + 1;
      } catch (error) {
        if (signal.aborted || isStoreError(error, "Closed")) return;
        log.warn("failed to check whether an API is available", { name: api.name, error });
        failures++;
      }
      const ms = failures === 0 ? RECHECK_MS : backoffMs(failures - 1, BACKOFF, random);
      await this.#rest(api, { ms, facts, after }, signal);
    }
  }

  async #look(api: RemoteApi, signal: AbortSignal): Promise<boolean> {
    const { verbParts, discovery } = this.#parts;
    const obstacle = findObstacle(api, verbParts.egress.services);
    if (obstacle !== undefined) {
      await this.#tell(api.name, obstacle);
      return false;
    }
    const before = discovery.find(api.name);
    const { availability, heard } = await checkRemote(api, this.#parts, { before, signal });
    if (signal.aborted) return false;
    // Discovery is updated before the condition: a client that waits for `Available` then finds the API in discovery.
    const { cut } = heard === undefined ? {} : discovery.hear(api.name, heard);
    await this.#tell(api.name, cut === undefined ? availability : withCut(availability, cut));
    if (cut !== undefined && cut !== before?.cut)
      verbParts.log.warn("discovery of an aggregated API is truncated", { name: api.name, cut });
    return availability.isAvailable;
  }

  /** Waits until the time is over, the Service's endpoints change, or a request fails to reach the server. */
  async #rest(
    api: RemoteApi,
    { ms, facts, after }: { readonly ms: number; readonly facts: string; readonly after: number },
    signal: AbortSignal,
  ): Promise<void> {
    const woken = new AbortController();
    const wake = (): void => woken.abort();
    this.#wakers.set(api.name, wake);
    signal.addEventListener("abort", wake, { once: true });
    if (!signal.aborted) await this.#wait(api, { ms, facts, after }, woken.signal);
    signal.removeEventListener("abort", wake);
    if (this.#wakers.get(api.name) === wake) this.#wakers.delete(api.name);
  }

  async #wait(
    api: RemoteApi,
    { ms, facts, after }: { readonly ms: number; readonly facts: string; readonly after: number },
    signal: AbortSignal,
  ): Promise<void> {
    const { verbParts } = this.#parts;
    const { loop, store } = verbParts;
    const { namespace, name } = api.target;
    const prefixes = [
      `/registry/services/specs/${namespace}/${name}`,
      `/registry/endpointslices/${namespace}/`,
    ];
    const until = loop.elapsed() + ms;
    for (let from = after; !signal.aborted && this.#facts(api) === facts; from = store.view.revision) {
      const left = until - loop.elapsed();
      if (left <= 0) return;
      await waitForChange(verbParts, { prefixes, after: from, ms: left }, signal);
      await pause(loop, { ms: DEBOUNCE_MS, kind: "periodic" }, signal);
    }
  }

  /** Everything that determines the endpoints of the Service. */
  #facts(api: RemoteApi): string {
    const { services } = this.#parts.verbParts.egress;
    const slices = services.slices(api.target);
    return JSON.stringify([
      services.findService(api.target)?.spec,
      slices.map(({ endpoints, ports }) => [endpoints, ports]),
    ]);
  }

  async #tell(name: string, availability: Availability): Promise<void> {
    const { registry, loop } = this.#parts.verbParts;
    const resource = requireStored(registry, "apiregistration.k8s.io", "apiservices");
    const place: Place = { resource, namespace: "", name };
    const live = this.#writer.find(place) as APIService | undefined;
    if (live === undefined) return;
    const before = live.status.conditions ?? [];
    const wasAvailable = !before.some(({ type, status }) => type === "Available" && status === "False");
    this.#parts.onLook?.(name, wasAvailable, availability);
    const conditions = plannedConditions(before, availability, timeText(loop.now()));
    if (conditions === before) return;
    const next = { ...live, status: { ...live.status, conditions } };
    try {
      await this.#writer.update(place, next, "status");
    } catch (error) {
      // Another writer was faster, and the watch will deliver its change.
      if (!isApiError(error, "Conflict") && !isApiError(error, "NotFound")) throw error;
    }
  }
}
