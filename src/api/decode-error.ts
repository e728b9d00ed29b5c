/**
 * What was sent cannot be read as what it should be. The message is worded as Go's decoders word it, because
 * people and clients see it; the server answers it as a bad request.
 */
export class DecodeError extends Error {
  override readonly name = "DecodeError";
}
