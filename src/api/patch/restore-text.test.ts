import { expect, test } from "vitest";
import { findKindSchema } from "../schema/built-in-schema.ts";
import { childSchema } from "../schema/schema.ts";
import { findRestoreText } from "./restore-text.ts";

test.each<readonly [string, string, unknown, string | undefined]>([
  ["ConfigMap", "data", "x", "cannot restore map from string"],
  ["ConfigMap", "data", [1], "cannot restore map from slice"],
  ["ConfigMap", "data.k", 1, "cannot convert int64 to string"],
  ["ConfigMap", "data.k", 1.5, "unrecognized type: string"],
  ["ConfigMap", "data.k", { a: 1 }, "unrecognized type: string"],
  ["ConfigMap", "immutable", "true", "unrecognized type: bool"],
  ["ConfigMap", "metadata", true, "cannot restore struct from: bool"],
  ["ConfigMap", "binaryData.k", 1, "cannot restore slice from int64"],
  ["Pod", "spec.containers", { a: 1 }, "cannot restore slice from map"],
  ["Pod", "spec.priority", "1", "unrecognized type: int32"],
  ["Pod", "spec.priority", 1.5, "cannot convert float64 to int32"],
  ["Pod", "metadata.creationTimestamp", 1, undefined],
])("in a %s, %s as %j", (...[kind, path, value, message]) => {
  const root = findKindSchema("v1", kind);
  let schema = root;
  for (const step of path.split(".")) schema = (schema && childSchema(schema, step)) as typeof root;

  expect(schema && findRestoreText(schema, value)).toBe(message);
});
