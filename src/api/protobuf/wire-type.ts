/** How the bytes after a tag are to be read. */
import type { Schema } from "../schema/schema.ts";

export const VARINT = 0;
const FIXED64 = 1;
export const LENGTH = 2;

/** Everything is its length and that many bytes, but for numbers. */
export function wireTypeOf({ type }: Schema): number {
  if (type === "int32" || type === "int64" || type === "boolean") return VARINT;
  return type === "float" ? FIXED64 : LENGTH;
}
