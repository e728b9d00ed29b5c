/** A call that may write, with the origin of its writes. */
import type { Resource } from "../objects/registry.ts";
import type { Call } from "../request/call.ts";
import { UNPACED } from "../request/pace.ts";
import type { Pace } from "../request/pace.ts";
import { SERVER_AUTHOR } from "./journal.ts";
import type { Author } from "./journal.ts";
import type { WriterRole } from "./write-purpose.ts";

export interface WriteOrigin {
  /** Recorded in the journal with each write. */
  readonly author: Author;
  /** Decides which reserve of a full store a write may use. */
  readonly writer: WriterRole;
  /** Splits a long write into several steps. */
  readonly pace: Pace;
}

export interface WriteCall<R extends Resource = Resource> extends Call<R> {
  readonly origin: WriteOrigin;
}

/** Origin of the server's own writes, which are small. */
export const SERVER_ORIGIN: WriteOrigin = { author: SERVER_AUTHOR, writer: "server", pace: UNPACED };
