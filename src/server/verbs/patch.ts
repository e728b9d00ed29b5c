import { badRequest, invalid, isApiError, unsupportedMediaType } from "../../api/errors/api-error.ts";
import { FieldErrors } from "../../api/errors/field-error.ts";
import { shownContent } from "../../api/errors/secret-content.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { parseJson } from "../../api/json/json-scan.ts";
import type { ParsedJson } from "../../api/json/json-scan.ts";
import { stringifyJson } from "../../api/json/json-text.ts";
import { goJsonWord, goText } from "../../api/patch/go-text.ts";
import { applyJsonPatch, unknownMembers } from "../../api/patch/json-patch.ts";
import { applyMergePatch } from "../../api/patch/merge-patch.ts";
import { findRestoreText } from "../../api/patch/restore-text.ts";
import { applyStrategicMergePatch } from "../../api/patch/strategic-merge-patch.ts";
import { DecodeError } from "../../api/schema/decode-error.ts";
import { TooLargeError } from "../../api/work-budget.ts";
import { errorText } from "../../base/error-text.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import { isStored } from "../objects/registry.ts";
import type { StoredResource } from "../objects/registry.ts";
import type { Answer } from "../request/answer.ts";
import type { Call } from "../request/call.ts";
import type { AcceptedRequest } from "../request/http.ts";
import { patchMediaType } from "../request/media-type.ts";
import { BODY_BYTES_MAX, checkNames } from "../write/body.ts";
import { expectedKind, fieldValidationOf, refuseMistake, toObject } from "../write/incoming.ts";
import type { ExpectedKind, FieldValidation, Incoming } from "../write/incoming.ts";
import { ObjectWriter } from "../write/object-writer.ts";
import type { WriteCall } from "../write/write-call.ts";
import { APPLY_YAML, versionAsked, writeOptionsOf } from "../write/write-options.ts";
import { apply } from "./apply.ts";
import { updatedObject } from "./updated-object.ts";
import {
  checkPlace,
  checkPreconditions,
  mayWaitFor,
  noteWarnings,
  requireVersion,
  shown,
} from "./write-steps.ts";
import type { WriteParts } from "./writing.ts";

const JSON_PATCH = "application/json-patch+json";
const MERGE_PATCH = "application/merge-patch+json";
const STRATEGIC_PATCH = "application/strategic-merge-patch+json";
const ACCEPTED = [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_YAML];

export function patch(call: WriteCall<StoredResource>, verbParts: WriteParts): Promise<Answer> {
  return patchTypeOf(call) === APPLY_YAML ? apply(call, verbParts) : patchAsTold(call, verbParts);
}

async function patchAsTold(call: WriteCall<StoredResource>, verbParts: WriteParts): Promise<Answer> {
  const { resource, info } = call;
  const { isDryRun } = writeOptionsOf(call);
  const change = await readPatch(call);
  const place = { resource, namespace: info.namespace, name: info.name };
  const options = { isDryRun, onConflict: "retry", mayWait: mayWaitFor({ call, verbParts }) } as const;
  const saved = await new ObjectWriter(verbParts, call.origin).update(place, options, async (previous) => {
    const incoming = patched(previous, change, call);
    const next = await updatedObject(incoming, previous, { call, verbParts });
    noteWarnings(incoming.object, call, previous);
    return { outcome: "put", object: next };
  });
  return shown(saved, resource, 200);
}

export interface Patch {
  readonly type: string;
  readonly changes: unknown;
  /** Problems of the patch itself: duplicate keys and unknown members of operations. Reported according to field validation. */
  readonly problems: readonly string[];
}

/** Custom resources accept no strategic merge patch: its directives come from Go types, which they lack. */
export function patchTypeOf({ request, resource }: Call): string {
  const type = patchMediaType(request.headers.get("content-type"));
  const isCustom = isStored(resource) && resource.custom !== undefined;
  const accepted = isCustom ? ACCEPTED.filter((known) => known !== STRATEGIC_PATCH) : ACCEPTED;
  if (!accepted.includes(type)) throw unsupportedMediaType(accepted);
  return type;
}

/** Reads a patch that lists changes; apply patches are read elsewhere. */
export async function readPatch(call: Call): Promise<Patch> {
  const type = patchTypeOf(call);
  const { value, duplicates } = await readChanges(call.request);
  return { type, changes: value, problems: problemsIn(value, { type, duplicates }) };
}

function problemsIn(
  changes: unknown,
  { type, duplicates }: { readonly type: string; readonly duplicates: readonly string[] },
): readonly string[] {
  const twice = duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`);
  if (type !== JSON_PATCH) return twice;
  const unknown = unknownMembers(changes).map((path) => `unknown field ${JSON.stringify(path)}`);
  return [...unknown, ...twice].map((problem) => `json patch ${problem}`);
}

/** The result passes the same checks as an object that was sent whole. */
function patched(previous: ApiObject, change: Patch, call: Call<StoredResource>): Incoming {
  const { resource } = call;
  const incoming = resultOf(change, previous, {
    expected: expectedKind(resource, call.info.subresource),
    validation: fieldValidationOf(call.query),
  });
  const { object, warnings } = incoming;
  call.notes.warnAll(warnings);
  checkPlace(object, call);
  requireVersion(object, resource);
  // Validation refuses another uid: a patch does not take it as a precondition, an update does.
  checkPreconditions({ uid: undefined, resourceVersion: versionAsked(object) }, previous, resource);
  refuseMistake(incoming);
  return incoming;
}

interface Reading {
  readonly expected: ExpectedKind;
  readonly validation: FieldValidation;
}

/** Applies the patch to an object. An unreadable result is a mistake in the patch. */
export function resultOf(change: Patch, known: JsonObject, { expected, validation }: Reading): Incoming {
  const value = changed(known, change, expected);
  try {
    if (!isJsonObject(value)) throw badRequest(`cannot unmarshal ${goJsonWord(value)} into ${expected.kind}`);
    const named = change.type === STRATEGIC_PATCH ? withOwnKind(value, expected) : withValidNames(value);
    return toObject(
      { value: named, duplicates: [], known, problems: change.problems, isRewritten: true },
      expected,
      validation,
    );
  } catch (error) {
    if (!isApiError(error, "BadRequest")) throw error;
    const errors = new FieldErrors();
    const message = change.type === STRATEGIC_PATCH ? restoreMessage(error) : undefined;
    errors.invalid("patch", shownPatch(change, value, expected), message ?? error.message);
    throw invalid({ group: "", kind: "" }, "", errors.found);
  }
}

function withValidNames(value: JsonObject): JsonObject {
  checkNames(value);
  return value;
}

/** Upstream converts the result of a strategic merge patch without regard to the kind that it names. */
function withOwnKind(value: JsonObject, { apiVersion, kind }: ExpectedKind): JsonObject {
  for (const name of ["apiVersion", "kind"]) {
    const text = value[name] ?? "";
    if (typeof text !== "string") throw badRequest(findRestoreText({ type: "string" }, text) ?? "");
  }
  return { ...value, apiVersion, kind };
}

function restoreMessage({ cause }: Error): string | undefined {
  if (!(cause instanceof DecodeError) || cause.mismatch === undefined) return undefined;
  return findRestoreText(cause.mismatch.schema, cause.mismatch.value);
}

/** Like upstream, an error shows the content of Secrets too. */
function shownPatch({ type, changes }: Patch, value: unknown, { kind }: ExpectedKind): string {
  return shownContent(kind, () => (type === STRATEGIC_PATCH ? goText(changes) : stringifyJson(value)));
}

function changed(document: JsonObject, { type, changes }: Patch, { schema }: ExpectedKind): unknown {
  switch (type) {
    case JSON_PATCH:
      return applyJsonPatch(document, changes);
    case MERGE_PATCH:
      return applyMergePatch(document, changes);
    default:
      return applyStrategicMergePatch(document, changes, schema);
  }
}

async function readChanges(request: AcceptedRequest): Promise<ParsedJson> {
  const { direct } = request;
  const changes =
    direct === undefined
      ? parsePatch(await request.readBody(BODY_BYTES_MAX))
      : { value: direct.body, duplicates: [] };
  request.onBody?.(changes.value);
  return changes;
}

function parsePatch(bytes: Uint8Array): ParsedJson {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (error instanceof TooLargeError) throw error;
    throw badRequest(`error decoding patch: ${errorText(error)}`);
  }
}
