import type { BootStep } from "./boot-steps.ts";

/** Something that the server does again and again by the clock, whatever has changed meanwhile. */
export interface Routine {
  readonly name: string;
  /** What its first time is part of in the eyes of those who ask how the server is. */
  readonly boot?: readonly BootStep[];
  /** From the moment when the server is ready. */
  readonly firstAfterMs: number;
  /** From the end of one time to the next. */
  readonly everyMs: number;
  /** Before the server is ready; when it fails, the server does not start. */
  begin?(): Promise<void>;
  /** One that fails is tried again sooner. */
  perform(): Promise<void>;
  /** Once, when the server ends. */
  end?(): Promise<void>;
}
