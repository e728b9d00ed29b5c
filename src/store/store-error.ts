/** The only error class of the store; the server translates it in exactly one place. Codes: docs/reference/errors.md. */

export type StoreErrorCode =
  | "Compacted"
  | "FutureRevision"
  | "ConditionFailed"
  | "InvalidTransaction"
  | "SlowWatcher"
  | "Overloaded"
  | "NoSpace"
  | "OutcomeUnknown"
  | "Unavailable"
  | "Damaged"
  | "Locked"
  | "Closed";

interface StoreErrorOptions extends ErrorOptions {
  readonly floor?: number;
}

export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;
  /** For `Compacted`: the oldest revision that is kept, if known. */
  readonly floor: number | undefined;

  constructor(code: StoreErrorCode, message: string, options?: StoreErrorOptions) {
    super(message, options);
    this.code = code;
    this.floor = options?.floor;
  }
}

export function isStoreError(error: unknown, code?: StoreErrorCode): error is StoreError {
  return error instanceof StoreError && (code === undefined || error.code === code);
}
