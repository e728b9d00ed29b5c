/** Writes audit events as lines to a rotated file or to standard output. */
import type { RotationLimits } from "../../../base/log-files/log-rotation.ts";
import { RotatingFile } from "../../../base/log-files/rotating-file.ts";
import { QueuedSink } from "./sink.ts";
import type { AuditSink, SinkSurroundings } from "./sink.ts";

/** About a megabyte a write, with events of a kilobyte. */
const BATCH_EVENTS = 1000;

export interface LogSinkOptions {
  /** Absolute path; `-` for standard output. */
  readonly path: string;
  readonly limits: RotationLimits;
}

export function logSink({ path, limits }: LogSinkOptions, surroundings: SinkSurroundings): AuditSink {
  const { loop, log } = surroundings;
  const queue = { batchEvents: BATCH_EVENTS };
  if (path === "-")
    return new QueuedSink((events) => loop.outside("stdout", print(events)), queue, surroundings);
  const file = new RotatingFile({ path, limits, loop, log });
  const sink = new QueuedSink((events) => file.append(linesOf(events)), queue, surroundings);
  return {
    offer: (event) => sink.offer(event),
    close: async () => {
      await sink.close();
      await file.close();
    },
  };
}

function linesOf(events: readonly string[]): string {
  return `${events.join("\n")}\n`;
}

function print(events: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(linesOf(events), (error) => {
      if (error === null || error === undefined) resolve();
      else reject(error);
    });
  });
}
