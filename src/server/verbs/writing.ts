import type { StoredResource } from "../objects/registry.ts";
import type { Call } from "../request/call.ts";
import type { VerbParts } from "./verb.ts";

/** A request that writes, and the parts of the server that answer it. */
export interface Writing {
  readonly call: Call<StoredResource>;
  readonly verbParts: VerbParts;
}
