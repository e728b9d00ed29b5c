/** A log for people at a terminal: one plain line each. */

import { inspect, styleText } from "node:util";
import type { Log, LogFields, LogLevel } from "./log.ts";

/** Least important first. */
const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];
const COLOURS = { debug: "gray", info: "green", warn: "yellow", error: "red" } as const;

export interface TextLogOptions {
  readonly level?: LogLevel;
  readonly isColoured: boolean;
  readonly write: (line: string) => void;
}

/** `12:00:00.000 warn  a step took long actor=cluster/store durationMs=80` */
export function createTextLog(options: TextLogOptions, bound: LogFields = {}): Log {
  const { level: least = "info", isColoured, write } = options;
  const at = (level: LogLevel) => (message: string, fields?: LogFields) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return;
    const name = level.padEnd(5);
    // Whether colours work is the caller's to know; by itself `styleText` asks standard output.
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

/** As JSON where it has one: a large integer or an object that holds itself must not keep what is told from being told. */
export function valueText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return inspect(value, { breakLength: Infinity });
  }
}

/** What comes in from outside cannot forge a second line or move the cursor. */
function oneLine(line: string): string {
  return line.replaceAll(/\p{Cc}+/gu, " ");
}
