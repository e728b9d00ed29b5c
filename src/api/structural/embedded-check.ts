/** Checks that embedded resources inside a custom resource have valid API metadata. */
import { FieldErrors, type FieldPath } from "../errors/field-error.ts";
import type { ObjectMeta } from "../generated/types/meta-v1.ts";
import { isJsonObject, type JsonObject } from "../json/json-object.ts";
import { validateManagedFields, validateMetadata } from "../metadata.ts";
import { dns1035Label, pathSegmentName } from "../values/names.ts";
import type { Structural } from "./structural.ts";

export function checkEmbedded(
  { schema, value }: { readonly schema: Structural; readonly value: unknown },
  path: FieldPath,
  errors: FieldErrors,
): void {
  if (Array.isArray(value)) {
    if (schema.items === undefined) return;
    for (const [at, item] of value.entries())
      checkEmbedded({ schema: schema.items, value: item }, path.index(at), errors);
    return;
  }
  if (!isJsonObject(value)) return;
  if (schema.isEmbedded) checkObject(value, path, errors);
  for (const key of Object.keys(value)) {
    const property = schema.properties.get(key);
    const inner = property ?? schema.additional;
    if (typeof inner !== "object") continue;
    const place = property === undefined ? path.key(key) : path.child(key);
    checkEmbedded({ schema: inner, value: value[key] }, place, errors);
  }
}

function checkObject(value: JsonObject, path: FieldPath, errors: FieldErrors): void {
  const { apiVersion, kind, metadata } = value;
  for (const [name, text] of Object.entries({ apiVersion, kind })) {
    if (text === undefined || text === "") errors.required(path.child(name));
    else if (typeof text !== "string") errors.invalid(path.child(name), text, "must be a string");
  }
  if (typeof apiVersion === "string" && apiVersion.split("/").length > 2)
    errors.invalid(path.child("apiVersion"), apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
  const problems = typeof kind === "string" && kind !== "" ? dns1035Label(kind.toLowerCase()) : [];
  if (problems.length > 0)
    errors.invalid(
      path.child("kind"),
      kind,
      `may have mixed case, but should otherwise match: ${problems.join(",")}`,
    );
  if (metadata !== undefined) checkMetadata(metadata, path, errors);
}

function checkMetadata(metadata: unknown, path: FieldPath, errors: FieldErrors): void {
  if (!isJsonObject(metadata)) {
    errors.invalid(path.child("metadata"), metadata, "must be an object");
    return;
  }
  const found = new FieldErrors();
  // An embedded object may lack a name, because its creator may set one later.
  const named = { ...metadata, name: metadata["name"] ?? "fakename" } as ObjectMeta;
  const scope = metadata["namespace"] === undefined ? "Cluster" : "Namespaced";
  const { managedFields = [], ...others } = named;
  validateMetadata(others, { scope, name: pathSegmentName, finalizers: "any" }, found);
  validateManagedFields(managedFields, found);
  errors.append(found.found.map((error) => ({ ...error, field: path.child(error.field).toString() })));
}
