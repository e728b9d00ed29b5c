/** Checks that the defaults of a schema are valid values of it. */
import { FieldErrors, FieldPath } from "../errors/field-error.ts";
import { jsonEqual } from "../patch/json-equal.ts";
import { normalizeValue } from "./custom-normal-form.ts";
import { checkEmbedded } from "./embedded-check.ts";
import { checkExpressions } from "./expression-check.ts";
import type { Structural } from "./structural.ts";
import { checkValue } from "./value-check.ts";

export function checkDefaults(schema: Structural, path: FieldPath, errors: FieldErrors): void {
  if (!schema.hasDefaults) return;
  if (schema.fallback !== undefined) checkDefault(schema, path.child("default"), errors);
  if (schema.items !== undefined) checkDefaults(schema.items, path.child("items"), errors);
  if (typeof schema.additional === "object")
    checkDefaults(schema.additional, path.child("additionalProperties"), errors);
  for (const [name, property] of schema.properties)
    checkDefaults(property, path.child("properties").key(name), errors);
}

function checkDefault(schema: Structural, path: FieldPath, errors: FieldErrors): void {
  const { fallback } = schema;
  if (!jsonEqual(normalizeValue(schema, fallback), fallback))
    errors.invalid(path, fallback, "must not have unknown fields");
  const embedded = new FieldErrors();
  checkEmbedded({ schema, value: fallback }, path, embedded);
  errors.append(embedded.found);
  if (!embedded.isEmpty) return;
  const found = new FieldErrors();
  checkValue({ schema, value: fallback }, "", found);
  // Rules run only on valid defaults. For a default, unlike an object, no error says that they were skipped.
  if (found.isEmpty) checkExpressions({ schema, value: fallback }, new FieldPath(""), found);
  errors.append(
    found.found.map((error) => ({
      ...error,
      field: error.field === "<nil>" ? path.toString() : path.child(error.field).toString(),
    })),
  );
}
