import type { Log } from "./log.ts";

/** A log that passes each message to both logs. Each has a least level of its own. */
export function teeLog(first: Log, second: Log): Log {
  return {
    debug: (message, fields) => {
      first.debug(message, fields);
      second.debug(message, fields);
    },
    info: (message, fields) => {
      first.info(message, fields);
      second.info(message, fields);
    },
    warn: (message, fields) => {
      first.warn(message, fields);
      second.warn(message, fields);
    },
    error: (message, fields) => {
      first.error(message, fields);
      second.error(message, fields);
    },
    with: (fields) => teeLog(first.with(fields), second.with(fields)),
    withClock: (now) => teeLog(first.withClock?.(now) ?? first, second.withClock?.(now) ?? second),
  };
}
