/** Errors of patches, in upstream's words. */
import { ApiError } from "../errors/api-error.ts";

/**
 * The patch is well-formed but does not apply to the object. Clients get upstream's fixed text without the reason. The
 * reason is in `cause`, for logs.
 */
export function unprocessablePatch(reason: string): ApiError {
  const message = "the server rejected our request due to an error in our request";
  return new ApiError("Invalid", message, { details: {}, cause: new Error(reason) });
}

/** A JSON Patch operation does not apply. Only code in this folder sees this error. */
export class PatchFailure extends Error {
  override readonly name: string = "PatchFailure";
}

/** A `test` operation fails. */
export class FailedTest extends PatchFailure {
  override readonly name = "FailedTest";
}
