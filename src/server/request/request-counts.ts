/** What is going on at this moment: requests under way, and those that stay open. Read when somebody asks for metrics. */
import type { StoreErrorCode } from "../../store/store-error.ts";

export type RequestKind = "mutating" | "readOnly";

/** Where a request that stays open is counted. Its values come from the API that is served, never from clients. */
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
  /** That were sent to all that were ever open. */
  events: number;
  /** That were ended because they did not take what they were sent. */
  tooSlow: number;
}

/** An open request, which tells what becomes of it. */
export interface OpenRequest {
  sent(events: number): void;
  tooSlow(): void;
  ended(): void;
}

/** What a write to the store was about. */
export interface WriteLabels {
  readonly operation: "create" | "update" | "delete";
  readonly group: string;
  readonly resource: string;
}

/** Something deprecated that was asked for. */
export interface DeprecatedLabels {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
}

/** `ok`, or the code of the store's error. */
type WriteOutcome = "ok" | StoreErrorCode | "broken";

type WriteObserver = (outcome: WriteOutcome, ms: number, labels: WriteLabels) => void;

export class RequestTally {
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

  /** Only what is served may be told: its number has a bound. */
  askedForDeprecated(labels: DeprecatedLabels): void {
    const { group, version, resource, subresource } = labels;
    this.#deprecated.set(`${group}/${version}/${resource}/${subresource}`, labels);
  }

  get deprecated(): Iterable<DeprecatedLabels> {
    return this.#deprecated.values();
  }

  /** From now on every write to the store is told to this one. */
  watchWrites(observer: WriteObserver): void {
    this.#observeWrite = observer;
  }

  wrote(outcome: WriteOutcome, ms: number, labels: WriteLabels): void {
    this.#observeWrite?.(outcome, ms, labels);
  }

  get inFlight(): Readonly<Record<RequestKind, number>> {
    return this.#inFlight;
  }

  /** All that were ever open, also those of which none is now. */
  get longRunning(): Iterable<Readonly<LongRunning>> {
    return this.#longRunning.values();
  }
}
