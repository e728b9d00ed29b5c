/** A log for a terminal: one line of text per message. */

import { inspect, styleText } from "node:util";
import type { Log, LogFields, LogLevel } from "./log.ts";

/** In ascending order of importance. */
const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];
const COLOURS = { debug: "gray", info: "green", warn: "yellow", error: "red" } as const;

/** Options of `createTextLog`. */
export interface TextLogOptions {
  /** Least important level that is written. Default: `info`. */
  readonly level?: LogLevel;
  /** Whether the level is coloured with escape sequences. */
  readonly isColoured: boolean;
  /** Writes a line, which ends with a newline. */
  readonly write: (line: string) => void;
}

/** `12:00:00.000 warn  a step blocked the event loop actor=cluster/store durationMs=80` */
export function createTextLog(options: TextLogOptions, bound: LogFields = {}): Log {
  const { level: least = "info", isColoured, write } = options;
  const at = (level: LogLevel) => (message: string, fields?: LogFields) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return;
    const name = level.padEnd(5);
    // The caller knows whether colours work; `styleText` would ask standard output.
    const shown = isColoured ? styleText(COLOURS[level], name, { validateStream: false }) : name;
    const words = Object.entries({ ...bound, ...fields }).map(([key, value]) => `${key}=${text(value)}`);
    write([new Date().toISOString().slice(11, 23), shown, oneLine(message), ...words].join(" ") + "\n");
  };
  const [debug, info, warn, error] = [at("debug"), at("info"), at("warn"), at("error")];
  return { debug, info, warn, error, with: (fields) => createTextLog(options, { ...bound, ...fields }) };
}

function text(value: unknown): string {
  if (typeof value === "string" && /^[\w./:@#-]+$/.test(value)) return value;
  return oneLine(valueText(value instanceof Error ? value.message : value));
}

/** JSON if possible. Large integers and cyclic objects are inspected instead, so that logging never throws. */
export function valueText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return inspect(value, { breakLength: Infinity });
  }
}

/** Replaces control characters, so that foreign text cannot forge a line or move the cursor. */
function oneLine(line: string): string {
  return line.replaceAll(/\p{Cc}+/gu, " ");
}
