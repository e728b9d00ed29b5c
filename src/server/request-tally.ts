/** What is going on at this moment: requests under way, and those that stay open. Read when somebody asks for metrics. */
import type { StoreErrorCode } from "../store/store-error.ts";

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
}

/** `ok`, or the code of the store's error. */
type WriteOutcome = "ok" | StoreErrorCode | "broken";

type WriteObserver = (outcome: WriteOutcome, ms: number) => void;

export class RequestTally {
  #observeWrite: WriteObserver | undefined;
  readonly #inFlight: Record<RequestKind, number> = { mutating: 0, readOnly: 0 };
  readonly #longRunning = new Map<string, LongRunning>();

  begin(kind: RequestKind): void {
    this.#inFlight[kind] += 1;
  }

  end(kind: RequestKind): void {
    this.#inFlight[kind] -= 1;
  }

  /** The function that comes back says that the request has ended. */
  stayOpen(labels: LongRunningLabels): () => void {
    const { group, version, resource, scope } = labels;
    const name = `${group}/${version}/${resource}/${scope}`;
    const entry = this.#longRunning.get(name) ?? { labels, count: 0 };
    this.#longRunning.set(name, entry);
    entry.count += 1;
    return () => {
      entry.count -= 1;
    };
  }

  /** From now on every write to the store is told to this one. */
  watchWrites(observer: WriteObserver): void {
    this.#observeWrite = observer;
  }

  wrote(outcome: WriteOutcome, ms: number): void {
    this.#observeWrite?.(outcome, ms);
  }

  get inFlight(): Readonly<Record<RequestKind, number>> {
    return this.#inFlight;
  }

  /** All that were ever open, also those of which none is now. */
  get longRunning(): Iterable<Readonly<LongRunning>> {
    return this.#longRunning.values();
  }
}
