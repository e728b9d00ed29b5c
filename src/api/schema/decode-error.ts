import type { Schema } from "./schema.ts";

/**
 * The request's content does not fit its schema. The message equals Go's, because clients see it. The server answers
 * 400.
 */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
  /** Value of the wrong type, with the schema it violates. */
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
