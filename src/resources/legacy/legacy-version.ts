/** A version that is served no longer, in which kube-apiserver stored objects and from which it still reads them. */
import type { StructSchema } from "../../api/schema/schema.ts";
import type { Conversion } from "../rules/kind-rules.ts";

export interface LegacyVersion {
  /** Undefined where the version has the fields of the stored one, on the wire too. */
  readonly schema?: (stored: StructSchema) => StructSchema;
  /** The published version that has the same fields, where that is not the stored one. */
  readonly sameAs?: string;
  /** To the stored version, except for `apiVersion`. The object is in the normal form of `schema`, else of any form. */
  readonly convert?: Conversion;
}
