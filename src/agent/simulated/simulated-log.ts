/** Streams the log of a simulated container, as `kubectl logs` and `kubectl attach` show it. */
import { Readable } from "node:stream";
import { dateTimeNanosText } from "../../base/date-text.ts";
import type { Loop, Timer } from "../../base/loop/loop.ts";
import type { LogView } from "../runtime-handler.ts";
import { keptLines, lineOf, nextEntryAt } from "./log-script.ts";
import type { LogEntry, LineRange, LogScript } from "./log-script.ts";

export interface SimulatedRun {
  readonly script: LogScript;
  readonly startedAt: number;
  /** Undefined while the container runs. */
  readonly endedAt: number | undefined;
}

/** Lines are made in pieces of about this length, as the reader takes them. */
const PIECE_CHARS = 16 * 1024;
const SILENT: LogScript = { lines: [], everyMs: undefined };

/** A log. With `follow` it grows until `end`. A reader that falls behind by more than is kept loses lines. */
export class SimulatedLog extends Readable {
  readonly #script: LogScript;
  readonly #run: SimulatedRun;
  readonly #query: LogView;
  readonly #loop: Loop;
  /** Number of the next line. */
  #next: number;
  #leftBytes: number;
  /** No line is printed after this time; undefined while the log grows. */
  #endsAt: number | undefined;
  /** Whether the reader waits for a line. */
  #isAwaited = false;
  #timer: Timer | undefined;

  constructor(run: SimulatedRun, query: LogView, loop: Loop) {
    super();
    this.#run = run;
    this.#query = query;
    this.#loop = loop;
    this.#script = query.stream === "Stderr" ? SILENT : run.script;
    this.#leftBytes = query.limitBytes ?? Infinity;
    const grows = query.follow && run.endedAt === undefined;
    const now = loop.now();
    this.#endsAt = grows ? undefined : Math.min(now, run.endedAt ?? now);
    const since = Math.max(run.startedAt, query.sinceMs ?? run.startedAt) - 1;
    const { from, to } = this.#lines(since);
    this.#next = query.tailLines === undefined ? from : Math.max(from, to - query.tailLines);
  }

  /** The container has ended: no more lines follow. */
  end(): void {
    this.#endsAt ??= this.#loop.now();
    if (this.#isAwaited) this.#give();
  }

  override _read(): void {
    this.#give();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#timer?.cancel();
    done(error);
  }

  #lines(after: number): LineRange {
    return keptLines(this.#script, this.#run.startedAt, { after, until: this.#endsAt ?? this.#loop.now() });
  }

  #give(): void {
    this.#timer?.cancel();
    this.#isAwaited = false;
    if (this.destroyed) return;
    const { from, to } = this.#lines(this.#run.startedAt - 1);
    let text = "";
    for (this.#next = Math.max(this.#next, from); this.#next < to && text.length < PIECE_CHARS; this.#next++)
      text += entryText(lineOf(this.#script, this.#run.startedAt, this.#next), this.#query);
    const bytes = Buffer.from(text).subarray(0, this.#leftBytes);
    this.#leftBytes -= bytes.length;
    if (bytes.length > 0) this.push(bytes);
    else if (this.#endsAt === undefined && this.#leftBytes > 0) this.#await();
    else this.push(null);
  }

  #await(): void {
    this.#isAwaited = true;
    const at = nextEntryAt(this.#script, this.#run.startedAt, this.#loop.now());
    if (at !== undefined) this.#timer = this.#loop.timer(at, "periodic", () => this.#give());
  }
}

function entryText({ at, text }: LogEntry, { timestamps }: LogView): string {
  return timestamps ? `${dateTimeNanosText(at)} ${text}\n` : `${text}\n`;
}
