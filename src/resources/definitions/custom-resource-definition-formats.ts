/** Warns about formats in a definition's schemas that the server does not know and does not enforce. */

import { isTextFormat } from "../../api/formats/formats.ts";
import type {
  CustomResourceDefinition,
  JSONSchemaProps,
} from "../../api/generated/types/apiextensions-v1.ts";
import { quoted } from "../../api/values/message-text.ts";

const NUMBER_FORMATS: Readonly<Record<string, readonly string[]>> = {
  integer: ["int32", "int64"],
  number: ["float", "double"],
};

/** Skips formats of the previous definition: the author has had the warning. */
export function formatWarnings(
  definition: CustomResourceDefinition,
  previous: CustomResourceDefinition | undefined,
): readonly string[] {
  const unknown = unknownFormats(definition);
  if (unknown.size === 0) return [];
  const known = previous === undefined ? undefined : unknownFormats(previous);
  return [...unknown]
    .filter((format) => known?.has(format) !== true)
    .map((format) => `unrecognized format ${quoted(format)}`);
}

function unknownFormats({ spec }: CustomResourceDefinition): Set<string> {
  const found = new Set<string>();
  for (const { schema } of spec.versions) {
    if (schema?.openAPIV3Schema !== undefined) collect(schema.openAPIV3Schema, found);
  }
  return found;
}

function collect(schema: JSONSchemaProps, found: Set<string>): void {
  const { format = "", type = "" } = schema;
  if (format !== "" && !isKnown(format, type)) found.add(format);
  for (const inner of partsOf(schema)) collect(inner, found);
}

function isKnown(format: string, type: string): boolean {
  if (type === "" || type === "string") return isTextFormat(format);
  return NUMBER_FORMATS[type]?.includes(format) ?? false;
}

function partsOf(schema: JSONSchemaProps): readonly JSONSchemaProps[] {
  const { items = [], additionalProperties, additionalItems, not } = schema;
  const { allOf = [], anyOf = [], oneOf = [], properties = {} } = schema;
  const single = [additionalProperties, additionalItems, not].filter((part) => typeof part === "object");
  return [items, allOf, anyOf, oneOf, Object.values(properties), single].flat();
}
