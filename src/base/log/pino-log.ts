/** One JSON object a line, made by pino. */

import { pino, type DestinationStream, type Logger } from "pino";
import type { Log, LogFields, LogLevel } from "./log.ts";

export interface LogOptions {
  /** What is less important is not written; `info` unless told. */
  readonly level?: LogLevel;
  /** Where lines go: a file descriptor or anything with `write`; standard output unless told. */
  readonly destination?: number | DestinationStream;
}

/** Lines are written before the call returns, so that none is lost when the process dies. Errors belong under `error`. */
export function createLog({ level = "info", destination = 1 }: LogOptions = {}): Log {
  const stream =
    typeof destination === "number" ? pino.destination({ dest: destination, sync: true }) : destination;
  const logger = pino(
    {
      level,
      base: null,
      messageKey: "message",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.err },
    },
    stream,
  );
  return logOn(logger);
}

function logOn(logger: Logger): Log {
  const at =
    (level: LogLevel) =>
    (message: string, fields?: LogFields): void => {
      if (fields === undefined) logger[level](message);
      else logger[level](fields, message);
    };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    with: (fields) => logOn(logger.child(fields)),
  };
}
