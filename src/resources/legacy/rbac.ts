/** Roles and bindings of `rbac.authorization.k8s.io/v1alpha1`. */
import { isJsonObject, type JsonObject } from "../../api/json/json-object.ts";
import type { StructSchema } from "../../api/schema/schema.ts";
import type { LegacyVersion } from "./legacy-version.ts";
import { legacyField, replacing, variantOf } from "./struct-variant.ts";

const GROUP = "rbac.authorization.k8s.io";
const RULE_WIRE_NUMBERS: Readonly<Record<string, number>> = {
  verbs: 1,
  apiGroups: 3,
  resources: 4,
  resourceNames: 5,
  nonResourceURLs: 6,
};

export const legacyRole: LegacyVersion = {
  schema: (stored: StructSchema) =>
    variantOf(stored, ["rules"], (fields) =>
      fields.map((field) => {
        const number = RULE_WIRE_NUMBERS[field.name];
        return number === undefined ? field : { ...field, wirePath: [number] };
      }),
    ),
};

export const legacyBinding: LegacyVersion = {
  schema: (stored: StructSchema) =>
    variantOf(
      stored,
      ["subjects"],
      replacing(["apiGroup"], [legacyField("apiVersion", { type: "string" }, 2)]),
    ),
  convert: (binding: JsonObject) => {
    const { subjects, roleRef } = binding;
    return {
      ...binding,
      ...(Array.isArray(subjects) && { subjects: subjects.map(convertSubject) }),
      ...(isJsonObject(roleRef) && { roleRef: { ...roleRef, apiGroup: roleRef["apiGroup"] || GROUP } }),
    };
  },
};

function convertSubject(subject: unknown): unknown {
  if (!isJsonObject(subject)) return subject;
  const { apiVersion = "", ...rest } = subject;
  const { kind, name } = rest;
  // This version meant every authenticated user by it.
  if (kind === "User" && name === "*")
    return { ...rest, kind: "Group", apiGroup: GROUP, name: "system:authenticated" };
  if (kind === "User" || kind === "Group") return { ...rest, apiGroup: GROUP };
  if (kind === "ServiceAccount") return rest;
  const [group = "", version] = String(apiVersion).split("/");
  return version === undefined ? rest : { ...rest, apiGroup: group };
}
