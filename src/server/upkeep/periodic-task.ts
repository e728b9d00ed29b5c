import type { BootStep } from "./boot-steps.ts";

/** Work that the server repeats at a fixed interval, independent of changes. */
export interface PeriodicTask {
  readonly name: string;
  /** Boot steps in the health checks that wait for its first run. */
  readonly boot?: readonly BootStep[];
  /** Delay after the server is ready. */
  readonly firstAfterMs: number;
  /** Pause from the end of one run to the start of the next. */
  readonly everyMs: number;
  /** Shorter pause after the run that has just ended; undefined for `everyMs`. */
  againAfterMs?(): number | undefined;
  /** Runs before the server is ready. If it fails, the server does not start. */
  begin?(): Promise<void>;
  /** A failed run is retried sooner than `everyMs`. */
  perform(): Promise<void>;
  /** Runs once, when the server stops. */
  end?(): Promise<void>;
}
