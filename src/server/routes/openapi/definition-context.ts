/** Context for writing definitions. */
import type { JsonObject } from "../../../api/json/json-object.ts";
import type { StructSchema } from "../../../api/schema/schema.ts";
import type { Dialect } from "./definition-name.ts";
import type { Descriptions } from "./descriptions.ts";

/** Finds the kinds of a struct, as listed in `x-kubernetes-group-version-kind`. */
export type KindsOf = (struct: StructSchema) => readonly JsonObject[];

export interface DefinitionContext {
  readonly dialect: Dialect;
  readonly kindsOf: KindsOf;
  readonly descriptions: Descriptions;
}
