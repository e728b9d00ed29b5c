/** Counts requests in flight and long-running requests. The metrics endpoint reads the counts on a scrape. */
import type { StoreErrorCode } from "../../store/store-error.ts";

export type RequestKind = "mutating" | "readOnly";

/**
 * Labels of a long-running request. Their values come from the served API, never from clients, so their number has a
 * bound.
 */
export interface LongRunningLabels {
  readonly verb: "WATCH";
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly scope: string;
}

interface LongRunning {
  readonly labels: LongRunningLabels;
  count: number;
  /** Events sent to all requests with these labels, also closed ones. */
  events: number;
  /** Requests that the server closed because the client read too slowly. */
  tooSlow: number;
}

/** Handle by which a long-running request reports its progress. */
export interface OpenRequest {
  sent(events: number): void;
  tooSlow(): void;
  ended(): void;
}

/** Operation and resource of a write to the store. */
export interface WriteLabels {
  readonly operation: "create" | "update" | "delete";
  readonly group: string;
  readonly resource: string;
}

/** A deprecated API that a client requested. */
export interface DeprecatedLabels {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
}

/** `ok`, or the code of the store's error. */
type WriteOutcome = "ok" | StoreErrorCode | "broken";

type WriteObserver = (outcome: WriteOutcome, ms: number, labels: WriteLabels) => void;

export class RequestCounts {
  #observeWrite: WriteObserver | undefined;
  readonly #inFlight: Record<RequestKind, number> = { mutating: 0, readOnly: 0 };
  readonly #longRunning = new Map<string, LongRunning>();
  readonly #deprecated = new Map<string, DeprecatedLabels>();

  begin(kind: RequestKind): void {
    this.#inFlight[kind] += 1;
  }

  end(kind: RequestKind): void {
    this.#inFlight[kind] -= 1;
  }

  stayOpen(labels: LongRunningLabels): OpenRequest {
    const { group, version, resource, scope } = labels;
    const name = `${group}/${version}/${resource}/${scope}`;
    const entry = this.#longRunning.get(name) ?? { labels, count: 0, events: 0, tooSlow: 0 };
    this.#longRunning.set(name, entry);
    entry.count += 1;
    return {
      sent: (events) => {
        entry.events += events;
      },
      tooSlow: () => {
        entry.tooSlow += 1;
      },
      ended: () => {
        entry.count -= 1;
      },
    };
  }

  /** Callers pass served APIs only, so the number of entries has a bound. */
  askedForDeprecated(labels: DeprecatedLabels): void {
    const { group, version, resource, subresource } = labels;
    this.#deprecated.set(`${group}/${version}/${resource}/${subresource}`, labels);
  }

  get deprecated(): Iterable<DeprecatedLabels> {
    return this.#deprecated.values();
  }

  /** Sets the observer of all later writes to the store. */
  watchWrites(observer: WriteObserver): void {
    this.#observeWrite = observer;
  }

  wrote(outcome: WriteOutcome, ms: number, labels: WriteLabels): void {
    this.#observeWrite?.(outcome, ms, labels);
  }

  get inFlight(): Readonly<Record<RequestKind, number>> {
    return this.#inFlight;
  }

  /** All labels that were ever counted, also with no open request. */
  get longRunning(): Iterable<Readonly<LongRunning>> {
    return this.#longRunning.values();
  }
}
