/** Failures of a command that works on several objects: one failure does not end the others. */
import { isApiError } from "../../api/errors/api-error.ts";
import { errorText } from "../../base/error-text.ts";
import type { Io } from "../command.ts";

type Reason = Parameters<typeof isApiError>[1];

export class FailureList {
  readonly #io: Io;
  readonly #ignored: readonly Reason[];
  #last: Error | undefined;

  constructor(io: Io, ignored: readonly Reason[] = []) {
    this.#io = io;
    this.#ignored = ignored;
  }

  async collect(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.add(error);
    }
  }

  add(error: unknown): void {
    if (this.#io.signal.aborted) throw asError(error);
    if (this.#ignored.some((reason) => isApiError(error, reason))) return;
    if (this.#last !== undefined) this.#io.stderr(`error: ${errorText(this.#last)}\n`);
    this.#last = asError(error);
  }

  get isEmpty(): boolean {
    return this.#last === undefined;
  }

  /** Throws the last failure, which the command line prints. */
  throwIfAny(): void {
    if (this.#last !== undefined) throw this.#last;
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(errorText(error));
}
