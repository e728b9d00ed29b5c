/** Secret: like a ConfigMap, but its type determines the keys it must have. */

import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import { REDACTED } from "../../api/errors/secret-content.ts";
import type { Secret } from "../../api/generated/types/core-v1.ts";
import { isJsonObject, setOwn } from "../../api/json/json-object.ts";
import { configMapKey } from "../../api/values/names.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind, type Draft } from "../rules/kind-rules.ts";
import { DATA_MAX_BYTES, decodedBytes, refuseDataChanges } from "./config-map.ts";

const DATA = fieldPath("data");
const ACCOUNT_NAME = "kubernetes.io/service-account.name";

export const secret = defineKind<Secret>("v1", "Secret", {
  defaults(draft) {
    mergeStringData(draft);
    draft.type ??= "Opaque";
  },

  validate(it, errors) {
    const data = it.data ?? {};
    for (const key of Object.keys(data)) errors.invalidFor(DATA.key(key), key, configMapKey(key));
    if (decodedBytes(data) > DATA_MAX_BYTES) errors.tooLong(DATA, DATA_MAX_BYTES);
    TYPE_RULES.get(it.type ?? "")?.(it, errors);
  },

  validateUpdate(next, previous, errors) {
    errors.immutable("type", next.type, previous.type);
    if (previous.immutable === true) refuseDataChanges(next, previous, errors);
  },

  fields: ({ type = "" }) => ({ type }),

  cells: (it, now) => [it.metadata.name, it.type ?? "", Object.keys(it.data ?? {}).length, ageText(it, now)],
});

/** `stringData` is a write-only form of `data`: it wins over `data` and is never stored. */
function mergeStringData(draft: Draft<Secret>): void {
  if (draft.stringData === undefined) return;
  const data: Record<string, string> = draft.data ?? {};
  for (const [key, text] of Object.entries(draft.stringData)) {
    setOwn(data, key, Buffer.from(text).toString("base64"));
  }
  delete draft.stringData;
  if (Object.keys(data).length > 0) draft.data = data;
}

const TYPE_RULES: ReadonlyMap<string, (it: Secret, errors: FieldErrors) => void> = new Map([
  ["kubernetes.io/service-account-token", requireAccountName],
  ["kubernetes.io/dockercfg", (it, errors) => requireJson(it, ".dockercfg", errors)],
  ["kubernetes.io/dockerconfigjson", (it, errors) => requireJson(it, ".dockerconfigjson", errors)],
  ["kubernetes.io/basic-auth", requireUserOrPassword],
  ["kubernetes.io/ssh-auth", requirePrivateKey],
  ["kubernetes.io/tls", requireCertificateAndKey],
]);

function has({ data = {} }: Secret, key: string): boolean {
  return Object.hasOwn(data, key);
}

/** A controller adds the other keys of a token Secret later. */
function requireAccountName({ metadata }: Secret, errors: FieldErrors): void {
  if ((metadata.annotations?.[ACCOUNT_NAME] ?? "") !== "") return;
  errors.required(fieldPath("metadata", "annotations").key(ACCOUNT_NAME));
}

function requireJson(it: Secret, key: string, errors: FieldErrors): void {
  if (!has(it, key)) {
    errors.required(DATA.key(key));
    return;
  }
  const problem = jsonProblem(Buffer.from(it.data?.[key] ?? "", "base64").toString());
  if (problem !== undefined) errors.invalid(DATA.key(key), REDACTED, problem);
}

function requireUserOrPassword(it: Secret, errors: FieldErrors): void {
  if (has(it, "username") || has(it, "password")) return;
  errors.required(DATA.key("username"));
  errors.required(DATA.key("password"));
}

function requirePrivateKey({ data = {} }: Secret, errors: FieldErrors): void {
  if ((data["ssh-privatekey"] ?? "") === "") errors.required(DATA.key("ssh-privatekey"));
}

function requireCertificateAndKey(it: Secret, errors: FieldErrors): void {
  for (const key of ["tls.crt", "tls.key"]) {
    if (!has(it, key)) errors.required(DATA.key(key));
  }
}

/** Go's message for a text that is no JSON object, in the cases that people meet, without the character that it found. */
function jsonProblem(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return "unexpected end of JSON input";
  try {
    const value: unknown = JSON.parse(trimmed);
    if (value === null || isJsonObject(value)) return undefined;
    const type = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
    return `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return trimmed.startsWith("{")
      ? "unexpected end of JSON input"
      : "invalid character looking for beginning of value";
  }
}
