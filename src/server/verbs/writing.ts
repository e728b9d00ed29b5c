import type { Authorizer } from "../access/authz/authorizer.ts";
import type { Admission } from "../admission/admission.ts";
import type { StoredResource } from "../objects/registry.ts";
import type { WriterParts } from "../write/object-writer.ts";
import type { WriteCall } from "../write/write-call.ts";

/** Parts that a verb needs to change objects. */
export interface WriteParts extends WriterParts {
  /** Plugins that each write passes. */
  readonly admission: Admission;
  /** Decides whether a request that updates or patches may also create. */
  readonly authorizer: Authorizer;
}

/** A request that writes, and the parts of the server that answer it. */
export interface Writing {
  readonly call: WriteCall<StoredResource>;
  readonly verbParts: WriteParts;
}
