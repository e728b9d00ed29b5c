/** Converts the object of a request to normal form and checks that it fits the request's resource. */
import { type ApiError, badRequest, invalid } from "../../api/errors/api-error.ts";
import { FieldErrors } from "../../api/errors/field-error.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { stringifyJson } from "../../api/json/json-text.ts";
import { findKindSchema } from "../../api/schema/built-in-schema.ts";
import { DecodeError } from "../../api/schema/decode-error.ts";
import { toChargedNormalForm, toNormalForm } from "../../api/schema/normal-form.ts";
import type { StructSchema } from "../../api/schema/schema.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import type { Resource } from "../objects/registry.ts";
import type { SharedSpec, SpecCache } from "../objects/spec-cache.ts";
import type { AcceptedRequest } from "../request/http.ts";
import type { Pace } from "../request/pace.ts";
import type { RequestNotes } from "../request/request-notes.ts";
import { readBody, unrecognized } from "./body.ts";
import type { Body } from "./body.ts";
import { problemsIn } from "./strict-problems.ts";
import { withoutRepeatedOwners } from "./system-metadata.ts";

/** Upstream's errors name the table of built-in types by the place where it is made. */
const SCHEME = '"pkg/api/legacyscheme/scheme.go:30"';

export type FieldValidation = "Ignore" | "Warn" | "Strict";

/** Kind of object that a request expects: the resource's own, or that of a subresource. */
export interface ExpectedKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly schema: StructSchema;
  /** Another version with the same schema that clients may send instead. */
  readonly formerVersion?: string;
  /** Deduplicates equal specs. */
  readonly specs?: SpecCache | undefined;
  /**
   * Whether this is a status write. A custom object's status write may name another kind, because its kind is
   * ignored.
   */
  readonly isStatus?: boolean;
}

export function expectedKind({ apiVersion, facts, schema }: Resource, subresource = ""): ExpectedKind {
  return { apiVersion, kind: facts.kind, schema, isStatus: subresource === "status" };
}

export interface Incoming {
  /** Owned by the caller, which may change it. */
  readonly object: ApiObject;
  readonly warnings: readonly string[];
  /** `managedFields` as sent. The normal form does not distinguish an empty list from an absent one. */
  readonly sentManagedFields: unknown;
  /** The object is of another kind. Reported only if the write has no other error. */
  readonly mistake?: ApiError | undefined;
  /** Work units for the conversion of the sent value. */
  readonly units: number;
  /** Its spec among the shared specs. The object contains it if it already has its defaults. */
  readonly shared?: SharedSpec | undefined;
}

interface Sent {
  readonly request: AcceptedRequest;
  readonly query: URLSearchParams;
  readonly notes: RequestNotes;
}

/** Reads the object of a request. Unknown and duplicate fields become warnings, or a refusal under Strict. */
export async function readObject(
  { request, query, notes }: Sent,
  expected: ExpectedKind,
  pace?: Pace,
): Promise<Incoming> {
  const { apiVersion, kind, schema, specs, formerVersion } = expected;
  const hasProtobuf = findKindSchema(apiVersion, kind) === schema;
  const schemaOf = (version: string, name: string): StructSchema | undefined =>
    findKindSchema(version === formerVersion ? apiVersion : version, name);
  const body = await readBody(request, { kind, schemaOf, hasProtobuf, specs });
  pace?.weighBytes(body.bytes ?? 0);
  const resting = pace?.rest();
  if (resting !== undefined) await resting;
  const incoming = toObject(body, expected, fieldValidationOf(query));
  notes.warnAll(incoming.warnings);
  pace?.weigh(incoming.units);
  return incoming;
}

/** Another value counts as Warn here; validation of the write options refuses it. */
export function fieldValidationOf(query: URLSearchParams): FieldValidation {
  const text = query.get("fieldValidation") ?? "";
  return text === "Ignore" || text === "Strict" ? text : "Warn";
}

export function toObject(body: Body, expected: ExpectedKind, validation: FieldValidation): Incoming {
  const mistake = kindMistake(body, expected, validation);
  const shared = body.shared ?? expected.specs?.find(body.value["spec"]);
  const spec = shared?.defaulted;
  const sent = withKind(body.value, expected);
  const { value, unknownFields, units } =
    spec === undefined
      ? normalBody(body, expected.schema, sent)
      : charged(expected.schema, { ...sent, spec }, { spec });
  const problems = problemsOf(body, expected, unknownFields);
  if (validation === "Strict" && problems.length > 0) throw strictRefusal(problems, body, expected);
  const { object, warnings } = withoutRepeatedOwners(value as ApiObject, {
    isPatched: body.known !== undefined,
  });
  return {
    object,
    warnings: validation === "Warn" ? [...problems, ...warnings] : warnings,
    sentManagedFields: managedFieldsOf(body.value),
    mistake,
    units,
    // A spec with unknown fields is not shared, because its warnings must be repeated each time.
    shared: unknownFields.length === 0 || spec !== undefined ? shared : undefined,
  };
}

function problemsOf(body: Body, expected: ExpectedKind, unknownFields: readonly string[]): readonly string[] {
  const { problems = [], duplicates } = body;
  if (problems.length + duplicates.length + unknownFields.length === 0) return [];
  const kind = isCustom(expected) ? "custom" : "built-in";
  return problemsIn(body, knownUnknown(body, expected, unknownFields), kind);
}

/**
 * For an object that claims another kind, only unknown metadata fields are reported: the other kind's schema is not
 * known.
 */
function knownUnknown({ value }: Body, expected: ExpectedKind, fields: readonly string[]): readonly string[] {
  const isOther = isCustom(expected) && value["kind"] !== expected.kind;
  return isOther ? fields.filter((field) => field.startsWith("metadata.")) : fields;
}

export function refuseMistake({ mistake }: Incoming): void {
  if (mistake !== undefined) throw mistake;
}

/** An error in the result of a patch is reported as an error of the patch. */
function normalBody(
  { known }: Body,
  schema: StructSchema,
  value: JsonObject,
): ReturnType<typeof toChargedNormalForm> {
  if (known === undefined) return charged(schema, value);
  try {
    return toChargedNormalForm(schema, value, known);
  } catch (error) {
    throw error instanceof DecodeError ? badRequest(error.message, { cause: error }) : error;
  }
}

/** The error for a body with problems under fieldValidation=Strict. */
function strictRefusal(
  problems: readonly string[],
  { known }: Body,
  { apiVersion, kind }: ExpectedKind,
): Error {
  const lines = problems.filter(isYamlLine);
  const yaml = lines.length === 0 ? [] : [yamlErrors(lines)];
  const others = problems.filter((problem) => !isYamlLine(problem));
  const message = `strict decoding error: ${[...yaml, ...others].join(", ")}`;
  // An error in the result of a patch is reported as an error of the patch.
  if (known !== undefined) return badRequest(message);
  return badRequest(handledAs({ apiVersion, kind }, message));
}

function handledAs({ apiVersion, kind }: Pick<ExpectedKind, "apiVersion" | "kind">, why: string): string {
  return `${kind} in version ${JSON.stringify(versionOf({ apiVersion }))} cannot be handled as a ${kind}: ${why}`;
}

/** Error text for problems in YAML, one line for each, as upstream's YAML decoder reports them. */
export function yamlErrors(lines: readonly string[]): string {
  return ["yaml: unmarshal errors:", ...lines].join("\n  ");
}

function isYamlLine(problem: string): boolean {
  return problem.endsWith(" already set in map");
}

function isCustom({ schema }: ExpectedKind): boolean {
  return schema.normalForm !== undefined;
}

function withKind(value: JsonObject, { apiVersion, kind }: ExpectedKind): JsonObject {
  const isNamed = value["apiVersion"] === apiVersion && value["kind"] === kind;
  return isNamed ? value : { ...value, apiVersion, kind };
}

function managedFieldsOf({ metadata }: JsonObject): unknown {
  return isJsonObject(metadata) ? metadata["managedFields"] : undefined;
}

/** Converts to normal form; a wrong type becomes a 400 error. */
export function normal(
  schema: StructSchema,
  value: unknown,
  known?: JsonObject,
): ReturnType<typeof toNormalForm> {
  try {
    return toNormalForm(schema, value, known);
  } catch (error) {
    throw notNormal(error, schema, value);
  }
}

/** As `normal`, but counts work units, for a value that a client sent. */
function charged(
  schema: StructSchema,
  value: unknown,
  known?: JsonObject,
): ReturnType<typeof toChargedNormalForm> {
  try {
    return toChargedNormalForm(schema, value, known);
  } catch (error) {
    throw notNormal(error, schema, value);
  }
}

function notNormal(error: unknown, schema: StructSchema, value: unknown): unknown {
  if (!(error instanceof DecodeError)) return error;
  return badRequest(
    `${schema.name} in version ${JSON.stringify(versionOf(value))} cannot be handled as a ${schema.name}: ${error.message}`,
  );
}

/** Version without group: `v1` for `apps/v1`. */
function versionOf(object: unknown): string {
  const apiVersion = isJsonObject(object) ? object["apiVersion"] : undefined;
  return typeof apiVersion === "string" ? apiVersion.slice(apiVersion.indexOf("/") + 1) : "";
}

function kindMistake(body: Body, expected: ExpectedKind, validation: FieldValidation): ApiError | undefined {
  if (isCustom(expected)) return customKindMistake(body, expected, validation);
  checkKind(body, expected);
  return undefined;
}

function checkKind({ value, known }: Body, expected: ExpectedKind): void {
  const apiVersion = textOf(value["apiVersion"], expected.apiVersion);
  const kind = textOf(value["kind"], expected.kind);
  if (kind !== expected.kind) {
    const why = unconvertible({ apiVersion, kind }, expected);
    // An error in the result of a patch is reported as an error of the patch.
    if (known !== undefined) throw badRequest(why);
    throw badRequest(
      `${kind} in version ${JSON.stringify(versionOf({ apiVersion }))} cannot be handled as a ${expected.kind}: ${why}`,
    );
  }
  if (apiVersion !== expected.apiVersion && apiVersion !== expected.formerVersion)
    throw otherVersion(apiVersion, expected);
}

function unconvertible(
  { apiVersion, kind }: Pick<ExpectedKind, "apiVersion" | "kind">,
  expected: ExpectedKind,
): string {
  return findKindSchema(apiVersion, kind) === undefined
    ? `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme ${SCHEME}`
    : `converting (${versionOf({ apiVersion })}.${kind}) to (${packageOf(expected)}.${expected.kind}): unknown conversion`;
}

function otherVersion(apiVersion: string, expected: ExpectedKind): Error {
  return badRequest(
    `the API version in the data (${apiVersion}) does not match the expected API version (${expected.apiVersion})`,
  );
}

/** Custom objects name their own kind. Validation reports a wrong kind, and all mistakes in the result of a patch. */
function customKindMistake(
  body: Body,
  expected: ExpectedKind,
  validation: FieldValidation,
): ApiError | undefined {
  const { value, known } = body;
  const kind = textOf(value["kind"], "");
  const apiVersion = textOf(value["apiVersion"], "");
  if (kind === "") throw unnamed(body, expected, validation);
  const isOtherVersion = apiVersion !== expected.apiVersion;
  if (isOtherVersion && known === undefined) throw otherVersion(apiVersion, expected);
  if (expected.isStatus === true) return undefined;
  const errors = new FieldErrors();
  if (kind !== expected.kind) errors.invalid("kind", kind, `must be ${expected.kind}`);
  if (isOtherVersion) errors.invalid("apiVersion", apiVersion, `must be ${expected.apiVersion}`);
  if (errors.isEmpty) return undefined;
  const { metadata } = value;
  const name = isJsonObject(metadata) ? textOf(metadata["name"], "") : "";
  const group = apiVersion.includes("/") ? (apiVersion.split("/", 1)[0] ?? "") : "";
  return invalid({ group, kind }, name, errors.found);
}

/** The error for an object without `kind`. Under Ignore, upstream uses another decoder with another text. */
function unnamed({ value, known, sent }: Body, expected: ExpectedKind, validation: FieldValidation): Error {
  const text = sent === undefined ? stringifyJson(value) : new TextDecoder().decode(sent);
  const missing = `Object 'Kind' is missing in '${text}'`;
  if (known !== undefined) return badRequest(missing);
  if (validation !== "Ignore") return unrecognized(expected.kind, missing, sent);
  return badRequest(handledAs(expected, missing));
}

/** The value as text. A value that is not a string is shown as JSON. */
function textOf(value: unknown, absent: string): string {
  if (value === undefined || value === null || value === "") return absent;
  return typeof value === "string" ? value : stringifyJson(value);
}

/** Package of the internal Go type in upstream's errors: `core.Pod`, `rbac.Role`. */
function packageOf({ apiVersion }: ExpectedKind): string {
  return apiVersion.includes("/") ? (apiVersion.split(/[./]/, 1)[0] ?? "") : "core";
}
