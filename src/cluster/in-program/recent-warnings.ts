/** Log that also keeps the latest warnings, so that errors about a cluster that does not settle can show them. */
import { valueText } from "../../base/log/log-text.ts";
import type { Log, LogFields } from "../../base/log/log.ts";

/** Upper bound of kept warnings; a newer one replaces an older one about the same subject. */
const KEPT_MAX = 3;
const CHARS_MAX = 300;
/** Log fields that identify the subject of a warning. */
const ABOUT = ["controller", "key", "loop", "watcher"];

interface KeptWarning {
  readonly text: string;
  readonly error: unknown;
}

export class RecentWarnings {
  readonly log: Log;
  readonly #kept = new Map<string, KeptWarning>();

  constructor(inner: Log) {
    this.log = this.#around(inner, {});
  }

  /** Newest last; empty without warnings. */
  toString(): string {
    return [...this.#kept.values()].map(({ text }) => text).join("; ");
  }

  /** Error of the newest warning that has one. */
  get error(): unknown {
    return [...this.#kept.values()].findLast(({ error }) => error !== undefined)?.error;
  }

  #around(inner: Log, bound: LogFields): Log {
    const keep = (message: string, fields: LogFields = {}): void => {
      const { stack: _, ...all } = { ...bound, ...fields };
      const about = [message, ...ABOUT.map((name) => String(all[name]))].join(" ");
      this.#kept.delete(about);
      this.#kept.set(about, { text: textOf(message, all).slice(0, CHARS_MAX), error: all["error"] });
      const [oldest] = this.#kept.keys();
      if (this.#kept.size > KEPT_MAX && oldest !== undefined) this.#kept.delete(oldest);
    };
    return {
      debug: (message, fields) => inner.debug(message, fields),
      info: (message, fields) => inner.info(message, fields),
      warn: (message, fields) => {
        keep(message, fields);
        inner.warn(message, fields);
      },
      error: (message, fields) => {
        keep(message, fields);
        inner.error(message, fields);
      },
      with: (fields) => this.#around(inner.with(fields), { ...bound, ...fields }),
    };
  }
}

function textOf(message: string, fields: LogFields): string {
  const words = Object.entries(fields).map(([name, value]) => `${name}=${wordOf(value)}`);
  return words.length === 0 ? message : `${message} (${words.join(", ")})`;
}

function wordOf(value: unknown): string {
  if (value instanceof Error) return value.message;
  return typeof value === "string" ? value : valueText(value);
}
