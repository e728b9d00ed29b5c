/** All that definitions are written with. */
import type { JsonObject } from "../../../api/json/json-object.ts";
import type { StructSchema } from "../../../api/schema/schema.ts";
import type { Dialect } from "./definition-name.ts";
import type { Descriptions } from "./descriptions.ts";

/** Kinds by the struct that holds them, as `x-kubernetes-group-version-kind` lists them. */
export type KindsOf = (struct: StructSchema) => readonly JsonObject[];

export interface DefinitionContext {
  readonly dialect: Dialect;
  readonly kindsOf: KindsOf;
  readonly descriptions: Descriptions;
}
