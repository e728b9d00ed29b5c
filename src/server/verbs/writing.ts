import type { StoredResource } from "../objects/registry.ts";
import type { WriteCall } from "../write/write-call.ts";
import type { VerbParts } from "./verb.ts";

/** A request that writes, and the parts of the server that answer it. */
export interface Writing {
  readonly call: WriteCall<StoredResource>;
  readonly verbParts: VerbParts;
}
