/** The log interface of all parts. The composition root creates the sink. */

/** Importance of a log line. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Values that a log line shows as `key=value`. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Receives log lines. Text in `fields` is shown as `key=value`. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A log with `fields` on every line. */
  with(fields: LogFields): Log;
  /** The same log with the times of another clock, in milliseconds since the epoch. Default: the machine's clock. */
  withClock?(now: () => number): Log;
}

/** A log that drops every line. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  with: () => silentLog,
};
