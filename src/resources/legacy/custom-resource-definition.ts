/** CustomResourceDefinition of `apiextensions.k8s.io/v1beta1`: what its versions have in common is said once. */
import { isJsonObject, type JsonObject } from "../../api/json/json-object.ts";
import type { LegacyVersion } from "./legacy-version.ts";

/** A version without a schema keeps everything, as upstream serves it. */
const KEEPS_UNKNOWN = "x-kubernetes-preserve-unknown-fields";
const ANYTHING = { type: "object", [KEEPS_UNKNOWN]: true };

function convert(definition: JsonObject): JsonObject {
  const { spec } = definition;
  if (!isJsonObject(spec)) return definition;
  const { version, versions, validation, subresources, additionalPrinterColumns, conversion, ...rest } = spec;
  const common = { validation, subresources, additionalPrinterColumns };
  const { preserveUnknownFields = true } = rest;
  const named =
    Array.isArray(versions) && versions.length > 0
      ? (versions as readonly unknown[])
      : [{ name: version, served: true, storage: true }];
  return {
    ...definition,
    spec: {
      ...rest,
      preserveUnknownFields,
      versions: named.map((one) => convertVersion(one, common, preserveUnknownFields === true)),
      conversion: convertConversion(conversion),
    },
  };
}

function convertVersion(version: unknown, common: JsonObject, keepsUnknown: boolean): unknown {
  if (!isJsonObject(version)) return version;
  const { schema, subresources, additionalPrinterColumns, ...rest } = { ...common, ...defined(version) };
  const shape = schema ?? rest["validation"];
  delete (rest as { validation?: unknown }).validation;
  return {
    ...rest,
    schema: { openAPIV3Schema: convertSchema(shape, keepsUnknown) },
    ...(subresources !== undefined && { subresources }),
    ...(Array.isArray(additionalPrinterColumns) && {
      additionalPrinterColumns: additionalPrinterColumns.map(convertColumn),
    }),
  };
}

function defined(version: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(version).filter(([, value]) => value !== undefined && value !== null),
  );
}

function convertSchema(shape: unknown, keepsUnknown: boolean): unknown {
  const schema = isJsonObject(shape) ? shape["openAPIV3Schema"] : undefined;
  if (!isJsonObject(schema)) return schema ?? ANYTHING;
  const typed = { type: "object", ...schema };
  return keepsUnknown ? keeping(typed) : typed;
}

/** Nothing is pruned anywhere in it: this version kept unknown fields unless a definition said otherwise. */
function keeping(schema: unknown): unknown {
  if (!isJsonObject(schema)) return schema;
  const { type, properties, items, additionalProperties } = schema;
  const isObject = type === "object" || properties !== undefined;
  const isOpen = isObject && additionalProperties === undefined;
  return {
    ...schema,
    ...(isObject && { type: "object" }),
    ...((isOpen || type === undefined) && { [KEEPS_UNKNOWN]: true }),
    ...(isJsonObject(properties) && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, keeping(one)])),
    }),
    ...(isJsonObject(items) && { items: keeping(items) }),
    ...(isJsonObject(additionalProperties) && { additionalProperties: keeping(additionalProperties) }),
  };
}

function convertColumn(column: unknown): unknown {
  if (!isJsonObject(column)) return column;
  const { JSONPath: path, ...rest } = column;
  return path === undefined ? rest : { ...rest, jsonPath: path };
}

function convertConversion(conversion: unknown): unknown {
  if (!isJsonObject(conversion)) return conversion ?? { strategy: "None" };
  const { webhookClientConfig, conversionReviewVersions = ["v1beta1"], ...rest } = conversion;
  if (webhookClientConfig === undefined || webhookClientConfig === null) return rest;
  return { ...rest, webhook: { clientConfig: webhookClientConfig, conversionReviewVersions } };
}

export const legacyDefinition: LegacyVersion = { convert };
