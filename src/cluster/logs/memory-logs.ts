/** The newest messages of the components in memory, for a cluster in a program: it writes no files. */
import { Readable } from "node:stream";
import type { LogView } from "../../agent/runtime-handler.ts";
import { createTextLog } from "../../base/log/log-text.ts";
import type { Log } from "../../base/log/log.ts";
import type { LogComponent } from "./component-logs.ts";

/** Lines that are kept of each component. */
const LINES_MAX = 1000;
/** A follower that takes nothing loses lines instead of filling the memory. */
const BUFFERED_MAX = 1 << 20;

interface KeptLine {
  readonly at: number;
  /** With its newline; a stack is part of its message. */
  readonly text: string;
}

interface KeptLog {
  readonly log: Log;
  readonly lines: KeptLine[];
  readonly followers: Set<(line: KeptLine) => void>;
}

export class MemoryLogs {
  readonly #logs = new Map<LogComponent, KeptLog>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  of(component: LogComponent): Log {
    return this.#find(component).log;
  }

  read(component: LogComponent, view: LogView): Readable {
    const { lines, followers } = this.#find(component);
    const { follow, tailLines, sinceMs = 0 } = view;
    const wanted = lines.filter(({ at }) => at >= sinceMs);
    const shown = wanted.slice(tailLines === undefined ? 0 : Math.max(0, wanted.length - tailLines));
    const stream = new LineStream(view);
    for (const line of shown) stream.give(line);
    if (!follow) return stream.end();
    const give = (line: KeptLine): void => stream.give(line);
    followers.add(give);
    stream.once("close", () => followers.delete(give));
    return stream;
  }

  #find(component: LogComponent): KeptLog {
    const known = this.#logs.get(component);
    if (known !== undefined) return known;
    const lines: KeptLine[] = [];
    const followers = new Set<(line: KeptLine) => void>();
    const write = (text: string): void => {
      const line = { at: this.#now(), text };
      lines.push(line);
      if (lines.length > LINES_MAX) lines.shift();
      for (const give of followers) give(line);
    };
    const log = createTextLog({ level: "info", isColoured: false, hasDate: true, write, now: this.#now });
    const made = { log, lines, followers };
    this.#logs.set(component, made);
    return made;
  }
}

class LineStream extends Readable {
  readonly #view: LogView;
  #leftBytes: number;

  constructor(view: LogView) {
    super();
    this.#view = view;
    this.#leftBytes = view.limitBytes ?? Infinity;
  }

  give({ at, text }: KeptLine): void {
    if (this.destroyed || this.#leftBytes <= 0 || this.readableLength > BUFFERED_MAX) return;
    const prefix = this.#view.timestamps ? `${new Date(at).toISOString()} ` : "";
    const bytes = Buffer.from(prefix + text).subarray(0, this.#leftBytes);
    this.#leftBytes -= bytes.length;
    this.push(bytes);
    if (this.#leftBytes <= 0) this.push(null);
  }

  end(): this {
    if (this.#leftBytes > 0) this.push(null);
    return this;
  }

  /** Lines come when they are written. */
  override _read(): void {
    // Nothing waits for the reader.
  }
}
