/** The peer broke the protocol, so later bytes of its connection cannot be trusted. */
export class SpdyError extends Error {
  override readonly name = "SpdyError";
}
