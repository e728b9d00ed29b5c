/** Ingress as `extensions/v1beta1` and `networking.k8s.io/v1beta1` have it: a backend names its Service directly. */
import { isJsonObject, type JsonObject } from "../../api/json/json-object.ts";
import type { StructSchema } from "../../api/schema/schema.ts";
import type { LegacyVersion } from "./legacy-version.ts";
import { legacyField, replacing, variantOf } from "./struct-variant.ts";

const withOldBackend = replacing(
  ["service"],
  [legacyField("serviceName", { type: "string" }, 1), legacyField("servicePort", { type: "intOrString" }, 2)],
);

function schema(stored: StructSchema): StructSchema {
  const inPaths = variantOf(stored, ["spec", "rules", "http", "paths", "backend"], withOldBackend);
  const inDefault = variantOf(inPaths, ["spec", "defaultBackend"], withOldBackend);
  return variantOf(inDefault, ["spec"], (fields) =>
    fields.map((field) => (field.name === "defaultBackend" ? { ...field, name: "backend" } : field)),
  );
}

function convert(ingress: JsonObject): JsonObject {
  const { spec } = ingress;
  if (!isJsonObject(spec)) return ingress;
  const { backend, rules, ...rest } = spec;
  return {
    ...ingress,
    spec: {
      ...rest,
      ...(isJsonObject(backend) && { defaultBackend: converted(backend) }),
      ...(Array.isArray(rules) && { rules: rules.map(convertRule) }),
    },
  };
}

function convertRule(rule: unknown): unknown {
  if (!isJsonObject(rule) || !isJsonObject(rule["http"])) return rule;
  const { paths } = rule["http"];
  if (!Array.isArray(paths)) return rule;
  return { ...rule, http: { ...rule["http"], paths: paths.map(convertPath) } };
}

function convertPath(path: unknown): unknown {
  if (!isJsonObject(path)) return path;
  const { backend, pathType = "ImplementationSpecific" } = path;
  return { ...path, pathType, ...(isJsonObject(backend) && { backend: converted(backend) }) };
}

function converted({ serviceName = "", servicePort, ...rest }: JsonObject): JsonObject {
  if (serviceName === "" && (servicePort === undefined || servicePort === 0)) return rest;
  const port = typeof servicePort === "string" ? { name: servicePort } : { number: servicePort ?? 0 };
  return { ...rest, service: { name: serviceName, port } };
}

export const legacyIngress: LegacyVersion = { schema, convert };
