/** Turns the signals that end the program into an AbortSignal. */

type Signal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** The part of `process` that delivers signals. */
interface SignalSource {
  on(name: Signal, listener: () => void): unknown;
  once(name: Signal, listener: () => void): unknown;
}

/**
 * Aborts at the first signal. A second Ctrl-C gets Node.js' default and ends the process at once. SIGTERM and SIGHUP
 * may arrive twice: a closed terminal or a stopped service signals the whole process group, and the parent process may
 * do so as well.
 */
export function shutdownSignal(source: SignalSource): AbortSignal {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  source.once("SIGINT", end);
  source.on("SIGTERM", end);
  source.on("SIGHUP", end);
  return ending.signal;
}
