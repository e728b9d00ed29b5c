import type { Schema } from "./schema.ts";

/**
 * What was sent cannot be read as what it should be. The message is worded as Go's decoders word it, because
 * people and clients see it; the server answers it as a bad request.
 */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
  /** The value of the wrong type, and the type that it should have. */
  readonly mismatch: Mismatch | undefined;

  constructor(
    message: string,
    { mismatch, ...options }: ErrorOptions & { readonly mismatch?: Mismatch } = {},
  ) {
    super(message, options);
    this.mismatch = mismatch;
  }
}

export interface Mismatch {
  readonly schema: Schema;
  readonly value: unknown;
}
