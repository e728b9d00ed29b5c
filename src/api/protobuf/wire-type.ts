/** Protobuf wire types of schema nodes. */
import type { Schema } from "../schema/schema.ts";

export const VARINT = 0;
const FIXED64 = 1;
export const LENGTH = 2;

/** Only numbers and booleans have no length prefix. */
export function wireTypeOf({ type }: Schema): number {
  if (type === "int32" || type === "int64" || type === "boolean") return VARINT;
  return type === "float" ? FIXED64 : LENGTH;
}
