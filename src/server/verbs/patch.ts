/** The three patches that say what to change. They start again on the newest object when another writer was faster. */
import { badRequest, unsupportedMediaType } from "../../api/api-error.ts";
import { isJsonObject } from "../../api/json-object.ts";
import type { JsonObject } from "../../api/json-object.ts";
import { parseJson } from "../../api/json-scan.ts";
import { applyJsonPatch } from "../../api/patch/json-patch.ts";
import { applyMergePatch } from "../../api/patch/merge-patch.ts";
import { applyStrategicMergePatch } from "../../api/patch/strategic-merge-patch.ts";
import { whenDone } from "../../base/soon.ts";
import type { ApiObject } from "../../resources/kind-rules.ts";
import type { Answer } from "../answer.ts";
import type { Call, Workshop } from "../call.ts";
import type { HttpRequest } from "../http.ts";
import { isStored } from "../registry.ts";
import type { Resource, StoredResource } from "../registry.ts";
import { versionAsked } from "../write/asked-version.ts";
import { BODY_BYTES_MAX, mediaTypeOf } from "../write/body.ts";
import { expectedKind, fieldValidationOf, toObject } from "../write/incoming.ts";
import type { Incoming } from "../write/incoming.ts";
import { ObjectWriter } from "../write/object-writer.ts";
import { APPLY_YAML, writeOptionsOf } from "../write/write-options.ts";
import { apply } from "./apply.ts";
import { shown, warningsOf } from "./create.ts";
import { checkPlace, checkPreconditions, put, successor } from "./update.ts";

const JSON_PATCH = "application/json-patch+json";
const MERGE_PATCH = "application/merge-patch+json";
const STRATEGIC_PATCH = "application/strategic-merge-patch+json";
const ACCEPTED = [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_YAML];

export function patch(call: Call<StoredResource>, workshop: Workshop): Promise<Answer> {
  return patchTypeOf(call) === APPLY_YAML ? apply(call, workshop) : patchAsTold(call, workshop);
}

async function patchAsTold(call: Call<StoredResource>, workshop: Workshop): Promise<Answer> {
  const { resource, info } = call;
  const { isDryRun } = writeOptionsOf(call);
  const { type, changes } = await readPatch(call);
  let incoming: Incoming | undefined;
  let before: ApiObject | undefined;
  const place = { resource, namespace: info.namespace, name: info.name };
  const saved = await new ObjectWriter(workshop).update(
    place,
    { isDryRun, onConflict: "retry" },
    (previous) => {
      before = previous;
      incoming = patched(previous, { type, changes }, call);
      return whenDone(successor(incoming, previous, { call, workshop }), put);
    },
  );
  const warnings =
    incoming === undefined ? [] : [...incoming.warnings, ...warningsOf(incoming.object, call, before)];
  return { ...shown(saved, resource, 200), warnings };
}

export interface Patch {
  readonly type: string;
  readonly changes: unknown;
}

/** What strategic merge patch does is said in Go types, which custom resources have not. */
export function patchTypeOf({ request, resource }: Call): string {
  const type = mediaTypeOf(request.headers.get("content-type"));
  const isCustom = isStored(resource) && resource.custom !== undefined;
  const accepted = isCustom ? ACCEPTED.filter((known) => known !== STRATEGIC_PATCH) : ACCEPTED;
  if (!accepted.includes(type)) throw unsupportedMediaType(accepted);
  return type;
}

/** One of the patches that say what to change. */
export async function readPatch(call: Call): Promise<Patch> {
  return { type: patchTypeOf(call), changes: await readChanges(call.request) };
}

/** The result is held to the same rules as an object that was sent whole. */
function patched(previous: ApiObject, change: Patch, call: Call<StoredResource>): Incoming {
  const { resource, query } = call;
  const known = previous as unknown as JsonObject;
  const value = changed(known, change, resource);
  if (!isJsonObject(value)) throw badRequest("the patched value is no object");
  const expected = expectedKind(resource);
  const incoming = toObject({ value, duplicates: [], known }, expected, fieldValidationOf(query));
  const { object } = incoming;
  checkPlace(object, call);
  checkPreconditions({ uid: object.metadata.uid, resourceVersion: versionAsked(object) }, previous, resource);
  return incoming;
}

/** What the patch makes of a document; it may be no object any more. */
export function changed(
  document: JsonObject,
  { type, changes }: Patch,
  { schema }: Pick<Resource, "schema">,
): unknown {
  switch (type) {
    case JSON_PATCH:
      return applyJsonPatch(document, changes);
    case MERGE_PATCH:
      return applyMergePatch(document, changes);
    default:
      return applyStrategicMergePatch(document, changes, schema);
  }
}

async function readChanges(request: HttpRequest): Promise<unknown> {
  const changes =
    request.direct === undefined ? parsePatch(await request.readBody(BODY_BYTES_MAX)) : request.direct.body;
  request.onBody?.(changes);
  return changes;
}

function parsePatch(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes).value;
  } catch (error) {
    throw badRequest(`error decoding patch: ${error instanceof Error ? error.message : String(error)}`);
  }
}
