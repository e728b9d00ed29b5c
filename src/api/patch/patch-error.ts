/** Errors of patches, as upstream's server words them. */
import { ApiError } from "../errors/api-error.ts";

/**
 * The patch is well formed but does not fit the object. Upstream gives clients this fixed text and keeps the
 * reason to itself; it is in `cause` here, for logs.
 */
export function unprocessablePatch(reason: string): ApiError {
  const message = "the server rejected our request due to an error in our request";
  return new ApiError("Invalid", message, { details: {}, cause: new Error(reason) });
}

/** A JSON Patch operation does not apply. It never leaves this folder. */
export class PatchFailure extends Error {
  override readonly name: string = "PatchFailure";
}

/** A `test` does not hold. */
export class UnmetTest extends PatchFailure {
  override readonly name = "UnmetTest";
}
