/** A log for a terminal: one line of text per message, and the stack of an error below it. */

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
  /** Whether a line begins with date and time. Default: with the time of day. */
  readonly hasDate?: boolean;
  /** Writes a line, which ends with a newline. A stack follows in the same call, a line for each frame. */
  readonly write: (line: string) => void;
  /** Clock of the lines, in milliseconds since the epoch. Default: the machine's. */
  readonly now?: () => number;
}

/** `12:00:00.000 warn  a step blocked the event loop actor=cluster/store durationMs=80` */
export function createTextLog(options: TextLogOptions, bound: LogFields = {}): Log {
  const { level: least = "info", isColoured, hasDate = false, write, now = Date.now } = options;
  const at = (level: LogLevel) => (message: string, fields?: LogFields) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return;
    const name = level.padEnd(5);
    // The caller knows whether colours work; `styleText` would ask standard output.
    const shown = isColoured ? styleText(COLOURS[level], name, { validateStream: false }) : name;
    const { stack, ...named } = { ...bound, ...fields };
    const words = Object.entries(named).map(([key, value]) => `${key}=${text(value)}`);
    const date = new Date(now()).toISOString();
    const time = hasDate ? date : date.slice(11, 23);
    write([time, shown, oneLine(message), ...words].join(" ") + "\n" + indented(stack));
  };
  const [debug, info, warn, error] = [at("debug"), at("info"), at("warn"), at("error")];
  return {
    debug,
    info,
    warn,
    error,
    with: (fields) => createTextLog(options, { ...bound, ...fields }),
    withClock: (clock) => createTextLog({ ...options, now: clock }, bound),
  };
}

/** The frames of a stack, below the line that they belong to. */
function indented(stack: unknown): string {
  if (typeof stack !== "string") return "";
  return stack
    .split("\n")
    .map((line) => `    ${oneLine(line)}\n`)
    .join("");
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
