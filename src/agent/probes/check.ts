/** One check of a container: the answer of a probe or of a hook. */
import type { Duplex } from "node:stream";

export interface CheckResult {
  readonly isSuccess: boolean;
  /** Shown in Events; output of the check, or its error. */
  readonly message: string;
}

/** Opens a connection to an address. The connection has no time limit of its own. */
export type Dial = (host: string, port: number) => Promise<Duplex>;

/** Upper bound of the output that a check keeps. */
export const OUTPUT_MAX = 10 * 1024;

export function failed(message: string): CheckResult {
  return { isSuccess: false, message };
}
