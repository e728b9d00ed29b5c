/** What the system and people say when the program shall end. */

type Signal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** The process, as far as it is told of signals. */
interface SignalSource {
  on(name: Signal, listener: () => void): unknown;
  once(name: Signal, listener: () => void): unknown;
}

/**
 * Aborted with the first of them. A second Ctrl-C meets the default and ends the process at once. The others come more than once by
 * themselves: a terminal that is closed, or a service that is stopped, tells every process of a group, and so does who started this one.
 */
export function endingOf(source: SignalSource): AbortSignal {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  source.once("SIGINT", end);
  source.on("SIGTERM", end);
  source.on("SIGHUP", end);
  return ending.signal;
}
