/** The one error class of the store; the server translates it in exactly one place. Codes: docs/reference/errors.md. */

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

export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export function isStoreError(error: unknown, code?: StoreErrorCode): error is StoreError {
  return error instanceof StoreError && (code === undefined || error.code === code);
}
