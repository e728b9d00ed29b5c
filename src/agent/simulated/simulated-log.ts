/** Streams the log of a simulated container, as `kubectl logs` and `kubectl attach` show it. */
import { Readable } from "node:stream";
import { dateTimeNanosText } from "../../base/date-text.ts";
import type { Loop, Timer } from "../../base/loop/loop.ts";
import type { LogView } from "../runtime-handler.ts";
import { entriesOf, nextEntryAt, type LogEntry, type LogScript } from "./log-script.ts";

export interface SimulatedRun {
  readonly script: LogScript;
  readonly startedAt: number;
  /** Undefined while the container runs. */
  readonly endedAt: number | undefined;
}

/** The lines of a run up to now; following is the matter of `FollowedLog`. */
export function shownLog({ script, startedAt, endedAt }: SimulatedRun, query: LogView, now: number): string {
  if (query.stream === "Stderr") return "";
  const since = Math.max(startedAt, query.sinceMs ?? startedAt) - 1;
  const entries = entriesOf(script, startedAt, { after: since, until: Math.min(now, endedAt ?? now) });
  const { tailLines } = query;
  const shown = tailLines === undefined ? entries : entries.slice(Math.max(0, entries.length - tailLines));
  return shown.map((entry) => entryText(entry, query)).join("");
}

function entryText({ at, text }: LogEntry, { timestamps }: LogView): string {
  return timestamps ? `${dateTimeNanosText(at)} ${text}\n` : `${text}\n`;
}

/** A log that grows until `end`. */
export class FollowedLog extends Readable {
  readonly #run: SimulatedRun;
  readonly #query: LogView;
  readonly #loop: Loop;
  #leftBytes: number;
  /** Time of the last line that was looked for. */
  #until: number;
  #timer: Timer | undefined;

  constructor(run: SimulatedRun, query: LogView, loop: Loop) {
    super();
    this.#run = run;
    this.#query = query;
    this.#loop = loop;
    this.#leftBytes = query.limitBytes ?? Infinity;
    this.#until = loop.now();
    this.#give(shownLog(run, query, this.#until));
    this.#await();
  }

  /** The container has ended: no more lines follow. */
  end(): void {
    this.#look();
    this.#timer?.cancel();
    if (!this.readableEnded && !this.destroyed) this.push(null);
  }

  /** Lines come at their times, whatever the speed of the reader: they are few. */
  override _read(): void {
    // Nothing waits for the reader.
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#timer?.cancel();
    done(error);
  }

  #await(): void {
    const { script, startedAt } = this.#run;
    const at = nextEntryAt(script, startedAt, this.#until);
    if (at === undefined || this.#leftBytes <= 0 || this.destroyed) return;
    this.#timer = this.#loop.timer(at, "periodic", () => {
      this.#look();
      this.#await();
    });
  }

  #look(): void {
    const { script, startedAt } = this.#run;
    const now = this.#loop.now();
    const entries = entriesOf(script, startedAt, { after: this.#until, until: now });
    this.#until = Math.max(now, this.#until);
    if (this.#query.stream === "Stderr") return;
    // A reader that takes nothing loses lines instead of filling the memory.
    if (this.readableLength > BUFFERED_MAX) return;
    this.#give(entries.map((entry) => entryText(entry, this.#query)).join(""));
  }

  #give(text: string): void {
    if (text === "" || this.#leftBytes <= 0) return;
    const bytes = Buffer.from(text).subarray(0, this.#leftBytes);
    this.#leftBytes -= bytes.length;
    this.push(bytes);
    if (this.#leftBytes <= 0) this.push(null);
  }
}

const BUFFERED_MAX = 1 << 20;
