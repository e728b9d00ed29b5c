/** Server-side apply: the client states its intent and the server works out the changes. Creates an object that does not exist. */
import { beginApply, checkConfig } from "../../api/apply/apply-patch.ts";
import type { ApplyInput, BegunApply } from "../../api/apply/apply-patch.ts";
import { withManagedFields } from "../../api/apply/managed-fields.ts";
import { badRequest, conflict, isApiError } from "../../api/errors/api-error.ts";
import { cloneJson } from "../../api/json/json-clone.ts";
import { isJsonObject, setOwn } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import type { ApiObject, Draft } from "../../resources/rules/kind-rules.ts";
import { createPermission } from "../access/authz/authorization.ts";
import type { CreatePermission } from "../access/authz/authorization.ts";
import { callPass } from "../admission/admission.ts";
import { groupResource } from "../objects/registry.ts";
import type { StoredResource } from "../objects/registry.ts";
import type { Answer } from "../request/answer.ts";
import type { Call } from "../request/call.ts";
import { inStages } from "../request/pace.ts";
import { isTrue } from "../request/parse-request.ts";
import { readBodyAs, YAML_TYPE } from "../write/body.ts";
import {
  expectedKind,
  fieldValidationOf,
  normal,
  refuseMistake,
  toObject,
  yamlErrors,
} from "../write/incoming.ts";
import type { Incoming } from "../write/incoming.ts";
import { ObjectWriter } from "../write/object-writer.ts";
import type { WriteDecision, Saved } from "../write/object-writer.ts";
import { admittedRevision, requestedDraft } from "../write/revise.ts";
import { fieldWriterOf } from "../write/tracking.ts";
import type { WriteCall } from "../write/write-call.ts";
import { writeOptionsOf } from "../write/write-options.ts";
import { makeNew, storeNew } from "./new-object.ts";
import { endpointOf } from "./updated-object.ts";
import { checkPlace, checkPreconditions, mayWaitFor, noteWarnings, shown } from "./write-steps.ts";
import type { WriteParts, Writing } from "./writing.ts";

export async function apply(call: WriteCall<StoredResource>, verbParts: WriteParts): Promise<Answer> {
  const { resource, request, query, notes } = call;
  const { isDryRun } = writeOptionsOf(call);
  const body = await readBodyAs(request, YAML_TYPE, {
    kind: resource.facts.kind,
    schemaOf: () => undefined,
  });
  const { pace } = call.origin;
  pace.weighBytes(body.bytes ?? 0);
  const resting = pace.rest();
  if (resting !== undefined) await resting;
  const config = withPlace(body.value, call);
  const validation = fieldValidationOf(query);
  const isStrict = validation === "Strict";
  // A configuration that is not of its kind is refused with apply's errors, whatever the field validation.
  const refuse = (): void => checkConfig(config, inputOf(config, { call, verbParts }, undefined).writer);
  const read = (): Incoming => {
    const sent = { ...body, value: config };
    const incoming = toObject(sent, expectedKind(resource), isStrict ? "Warn" : validation);
    refuseMistake(incoming);
    return incoming;
  };
  const { object, warnings, units } = readOr(refuse, read);
  pace.weigh(units);
  if (isStrict && warnings.length > 0) {
    refuse();
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${yamlErrors(warnings)}`);
  }
  notes.warnAll(warnings);
  const { result, code } = await save({ config, object, isDryRun }, call, verbParts);
  return shown(result, resource, code);
}

function readOr(refuse: () => void, read: () => Incoming): Incoming {
  try {
    return read();
  } catch (error) {
    refuse();
    throw error;
  }
}

interface Intent {
  readonly config: JsonObject;
  readonly object: ApiObject;
  readonly isDryRun: boolean;
}

interface Applied {
  readonly result: Saved;
  readonly code: number;
}

async function save(
  intent: Intent,
  call: WriteCall<StoredResource>,
  verbParts: WriteParts,
): Promise<Applied> {
  const { resource, info } = call;
  const place = { resource, namespace: info.namespace, name: info.name };
  const { isDryRun } = intent;
  const { uid, resourceVersion } = intent.object.metadata;
  const writing = { call, verbParts };
  const writer = new ObjectWriter(verbParts, call.origin);
  const permission = createPermission(call, verbParts.authorizer);
  for (;;) {
    try {
      const options = { isDryRun, onConflict: "retry", mayWait: mayWaitFor(writing) } as const;
      const result = await writer.update(place, options, async (previous) => {
        checkPreconditions({ uid: undefined, resourceVersion }, previous, resource);
        const next = await applied(intent.config, previous, writing);
        // As for other writes, the resulting object may cause warnings.
        noteWarnings(next.outcome === "put" ? next.object : previous, call, previous);
        return next;
      });
      return { result, code: 200 };
    } catch (error) {
      if (!isApiError(error, "NotFound") || info.subresource !== "") throw error;
    }
    if (uid !== undefined && uid !== "") {
      const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
      throw conflict(groupResource(resource), info.name, why);
    }
    try {
      const made = await newlyApplied(intent.config, writing, permission);
      return { result: await storeNew(made, resourceVersion, writing), code: 201 };
    } catch (error) {
      if (!isApiError(error, "AlreadyExists")) throw error;
    }
  }
}

async function applied(config: JsonObject, previous: ApiObject, writing: Writing): Promise<WriteDecision> {
  const { pace } = writing.call.origin;
  await pace.rest();
  const begun = beginApply(inputOf(config, writing, previous));
  const merging = await inStages(pace, begun);
  await pace.rest();
  return saved(merging, previous, writing);
}

async function saved(
  { merged, checkConflicts, conclude }: BegunApply,
  previous: ApiObject,
  { call, verbParts }: Writing,
): Promise<WriteDecision> {
  const { resource, notes } = call;
  const { pace } = call.origin;
  const live = previous;
  const finish = (outcome: ApiObject | undefined): WriteDecision => {
    const { object, isChanged } = conclude(outcome);
    return isChanged ? { outcome: "put", object: object as ApiObject } : { outcome: "unchanged" };
  };
  // Only webhooks and policies see an apply without changes.
  if (merged === undefined && !verbParts.admission.seesNoOps) return finish(undefined);
  const object = inNormalForm(merged ?? withManagedFields(live, undefined), resource, live);
  const { user } = writeOptionsOf(call);
  const admission = callPass({ call, verbParts }, "UPDATE");
  admission?.showOwners((next) => conclude(next).object as ApiObject);
  const context = { now: verbParts.loop.now(), user, notes, admission, pace };
  const revision = { object, previous, endpoint: endpointOf(call) };
  checkConflicts(() => inNormalForm(requestedDraft(revision, resource), resource, live));
  checkPlace(object, call);
  const next = await admittedRevision(revision, resource, context);
  await pace.rest();
  return finish(next);
}

async function newlyApplied(
  config: JsonObject,
  writing: Writing,
  permission: CreatePermission,
): Promise<ApiObject> {
  const { call } = writing;
  const { merged, conclude } = await inStages(
    call.origin.pace,
    beginApply(inputOf(config, writing, undefined)),
  );
  if (merged === undefined)
    throw new Error("an object that is applied for the first time is always another one");
  const draft = cloneJson(inNormalForm(merged, call.resource)) as Draft<ApiObject>;
  checkPlace(draft, call);
  const withOwners = (next: ApiObject): ApiObject => conclude(next).object as ApiObject;
  return makeNew({ draft, withOwners, permission }, writing);
}

/** Fills the gaps that released fields leave in the merged object. Kind rules expect objects in normal form. */
function inNormalForm(merged: object, { schema }: StoredResource, known?: JsonObject): ApiObject {
  return normal(schema, merged, known).value as ApiObject;
}

function inputOf(config: JsonObject, { call, verbParts }: Writing, live: JsonObject | undefined): ApplyInput {
  const { resource, info, query } = call;
  const manager = query.get("fieldManager") ?? "";
  const { writes } = call.endpoint ?? {};
  const authorship = { manager, subresource: info.subresource, now: verbParts.loop.now(), writes };
  const isForced = isTrue(query.get("force"));
  return {
    live,
    config,
    writer: fieldWriterOf(resource, verbParts.versions, authorship),
    onConflict: isForced ? "force" : "fail",
  };
}

/** The URL supplies a missing namespace. A name is only supplied by an existing object. */
function withPlace(value: JsonObject, { info, resource }: Call<StoredResource>): JsonObject {
  const metadata: Record<string, unknown> = {};
  const given = isJsonObject(value["metadata"]) ? value["metadata"] : {};
  for (const key of Object.keys(given)) setOwn(metadata, key, given[key]);
  if (resource.facts.namespaced) metadata["namespace"] ??= info.namespace;
  else delete metadata["namespace"];
  return { ...value, metadata };
}
