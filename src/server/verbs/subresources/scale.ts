/** The replica count of a workload, as one Scale object for all kinds with replicas. It is computed; nothing of it is stored. */
import { applyPatch } from "../../../api/apply/apply-patch.ts";
import {
  badRequest,
  internalError,
  invalid,
  notFound,
  unknownResource,
} from "../../../api/errors/api-error.ts";
import { FieldErrors } from "../../../api/errors/field-error.ts";
import type { Scale } from "../../../api/generated/types/autoscaling-v1.ts";
import { cloneJson } from "../../../api/json/json-clone.ts";
import { isJsonObject } from "../../../api/json/json-object.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { findFieldNames, memberAt } from "../../../api/json/json-path.ts";
import { findKindSchema } from "../../../api/schema/built-in-schema.ts";
import { toNormalForm } from "../../../api/schema/normal-form.ts";
import type { StructSchema } from "../../../api/schema/schema.ts";
import type { ApiObject, Draft, ScaleRules } from "../../../resources/rules/kind-rules.ts";
import { callPass } from "../../admission/admission.ts";
import { groupResource } from "../../objects/registry.ts";
import type { StoredResource } from "../../objects/registry.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import { keyOf } from "../../objects/versions.ts";
import type { Answer } from "../../request/answer.ts";
import type { Call } from "../../request/call.ts";
import { isTrue } from "../../request/parse-request.ts";
import { readBodyAs, YAML_TYPE } from "../../write/body.ts";
import { fieldValidationOf, readObject, toObject } from "../../write/incoming.ts";
import { ObjectWriter } from "../../write/object-writer.ts";
import type { WriteDecision, Saved, SaveOptions } from "../../write/object-writer.ts";
import { revisedObject } from "../../write/revise.ts";
import { track, fieldWriterOf } from "../../write/tracking.ts";
import type { WriteCall } from "../../write/write-call.ts";
import { APPLY_YAML, versionAsked, writeOptionsOf } from "../../write/write-options.ts";
import { patchTypeOf, readPatch, resultOf } from "../patch.ts";
import type { Verb } from "../verb.ts";
import { checkPreconditions, mayWaitFor, nameless } from "../write-steps.ts";
import type { WriteParts, Writing } from "../writing.ts";

const API_VERSION = "autoscaling/v1";
const KIND = "Scale";

/** Stands for a missing number in a scale that is patched. No valid scale contains it. */
const UNSAID = -(2 ** 31);

export const showScale: Verb = async ({ resource, info }, { store, versions }) => {
  const view = await store.fresh();
  const entry = view.get(keyOf(resource, info.namespace, info.name));
  if (entry === undefined) throw notFound(groupResource(resource), info.name);
  const stored = StoredObject.of(entry);
  await versions.readyToShow([stored], resource);
  const object = versions.served(stored, resource);
  const rules = rulesOf(resource);
  if (rules.replicas(object) === undefined)
    throw internalError(`the spec replicas field ${JSON.stringify(rules.replicasPath)} does not exist`);
  return { type: "object", code: 200, object: scaleOf(object, resource) };
};

export const updateScale: Verb = async (call, verbParts) => {
  const { resource } = call;
  const { isDryRun } = writeOptionsOf(call);
  const { object } = await readObject(call, expected());
  const scale = checked(object as Scale, call);
  const onConflict = versionAsked(object) === "" ? "retry" : "fail";
  const saved = await save({ call, verbParts }, { isDryRun, onConflict }, (previous) => {
    checkPreconditions(preconditionsOf(scale), previous, resource);
    return rescaled(previous, scale, { call, verbParts });
  });
  return answerOf(saved, call, verbParts);
};

export const patchScale: Verb = async (call, verbParts) => {
  const { resource, query, notes } = call;
  const type = patchTypeOf(call);
  const { isDryRun } = writeOptionsOf(call);
  const options = { isDryRun, onConflict: "retry" } as const;
  if (type === APPLY_YAML) return applyScale(call, verbParts, options);
  const change = await readPatch(call);
  const saved = await save({ call, verbParts }, options, (previous) => {
    const before = scaleOf(previous, resource, UNSAID);
    const reading = { expected: expected(), validation: fieldValidationOf(query) };
    const { object, warnings } = resultOf(change, before, reading);
    notes.warnAll(warnings);
    const scale = checked(object as Scale, call);
    checkPreconditions(preconditionsOf(scale), previous, resource);
    return rescaled(previous, scale, { call, verbParts });
  });
  return answerOf(saved, call, verbParts);
};

function save(
  { call, verbParts }: Writing,
  options: SaveOptions,
  change: (previous: ApiObject) => WriteDecision | Promise<WriteDecision>,
): Promise<Saved> {
  const { resource, info } = call;
  const place = { resource, namespace: info.namespace, name: info.name };
  const mayWait = mayWaitFor({ call, verbParts });
  return new ObjectWriter(verbParts, call.origin).update(place, { ...options, mayWait }, change);
}

/** Returns the workload with the scale's replica count and all other fields unchanged. */
async function rescaled(previous: ApiObject, scale: Scale, writing: Writing): Promise<WriteDecision> {
  return withReplicas(previous, await admitted(scale, previous, writing), writing);
}

/** Passes the scale through admission. Plugins see the scale, not the workload. */
async function admitted(scale: Scale, previous: ApiObject, { call, verbParts }: Writing): Promise<Scale> {
  const pass = callPass({ call, verbParts }, "UPDATE");
  if (pass === undefined) return scale;
  const before = scaleOf(previous, call.resource) as Scale;
  const next = { ...before, metadata: { ...before.metadata, ...scale.metadata }, spec: scale.spec };
  return checked(await pass.admit(next, before), call);
}

function withReplicas(previous: ApiObject, { spec }: Scale, writing: Writing): WriteDecision {
  const { call, verbParts } = writing;
  const { resource } = call;
  const { user, manager } = writeOptionsOf(call);
  const now = verbParts.loop.now();
  const draft = cloneJson(previous) as Draft<ApiObject>;
  rulesOf(resource).setReplicas(draft, spec.replicas ?? 0);
  const revision = { object: draft, previous, endpoint: "main", defaults: "as they are" } as const;
  const next = revisedObject(revision, resource, { now, user });
  // As upstream, a replica count without an owner stays without one.
  if (!isOwned(previous, replicasNames(resource))) return { outcome: "put", object: next };
  const writer = fieldWriterOf(resource, verbParts.versions, { manager, subresource: "scale", now });
  return { outcome: "put", object: track({ live: previous, next, writer, sentManagedFields: undefined }) };
}

function replicasNames(resource: StoredResource): readonly string[] {
  return findFieldNames(rulesOf(resource).replicasPath ?? ".spec.replicas") ?? [];
}

/** Tells whether a manager owns the field. */
function isOwned({ metadata: { managedFields = [] } }: ApiObject, names: readonly string[]): boolean {
  return managedFields.some(
    ({ fieldsV1 }) =>
      memberAt(
        fieldsV1,
        names.map((name) => `f:${name}`),
      ) !== undefined,
  );
}

/** Applies a scale. Its manager becomes the owner of the workload's replica count. */
async function applyScale(
  call: WriteCall<StoredResource>,
  verbParts: WriteParts,
  options: SaveOptions,
): Promise<Answer> {
  const { resource, request, query, info, notes } = call;
  const body = await readBodyAs(request, YAML_TYPE, {
    kind: KIND,
    schemaOf: () => undefined,
  });
  const { object, warnings } = toObject(body, expected(), fieldValidationOf(query));
  notes.warnAll(warnings);
  const named = { ...object, metadata: { ...object.metadata, name: object.metadata.name ?? info.name } };
  const scale = checked(named as Scale, call);
  const spec =
    isJsonObject(body.value["spec"]) && "replicas" in body.value["spec"]
      ? { replicas: scale.spec.replicas ?? 0 }
      : { replicas: undefined };
  const saved = await save({ call, verbParts }, options, async (previous) => {
    checkPreconditions(preconditionsOf(scale), previous, resource);
    if (spec.replicas === undefined) return applied(spec, previous, { call, verbParts });
    const next = await admitted(scale, previous, { call, verbParts });
    return applied({ replicas: next.spec.replicas ?? 0 }, previous, { call, verbParts });
  });
  return answerOf(saved, call, verbParts);
}

function applied(spec: JsonObject, previous: ApiObject, { call, verbParts }: Writing): WriteDecision {
  const { resource, info, query } = call;
  const { user } = writeOptionsOf(call);
  const now = verbParts.loop.now();
  const { resourceVersion: _, ...metadata } = previous.metadata;
  const authorship = { manager: query.get("fieldManager") ?? "", subresource: "scale", now };
  const { object, isChanged } = applyPatch({
    live: { ...previous, metadata },
    config: {
      ...scaled(spec, resource),
      apiVersion: resource.apiVersion,
      kind: resource.facts.kind,
      metadata: { name: info.name, namespace: info.namespace },
    },
    writer: fieldWriterOf(resource, verbParts.versions, authorship),
    onConflict: isTrue(query.get("force")) ? "force" : "fail",
    finish: (merged) => {
      const draft = cloneJson(merged) as Draft<ApiObject>;
      return revisedObject({ object: draft, previous, endpoint: "main" }, resource, {
        now,
        user,
      });
    },
  });
  return isChanged ? { outcome: "put", object: object as ApiObject } : { outcome: "unchanged" };
}

/** Translates the scale's fields to the fields of the workload. */
function scaled({ replicas }: JsonObject, resource: StoredResource): JsonObject {
  const config: Record<string, unknown> = { spec: {} };
  if (typeof replicas === "number") rulesOf(resource).setReplicas(config as Draft<ApiObject>, replicas);
  return config;
}

function checked(scale: Scale, { info, resource }: Call<StoredResource>): Scale {
  const { name, namespace }: { readonly name?: string; readonly namespace?: string } = scale.metadata;
  if ((namespace ?? info.namespace) !== info.namespace)
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  if ((name ?? "") === "") throw nameless(info.name);
  if (name !== info.name) {
    throw badRequest(
      `the name of the object (${name ?? ""}) does not match the name on the URL (${info.name})`,
    );
  }
  const { replicas = 0 } = scale.spec;
  if (replicas >= 0) return scale;
  const { replicasPath } = rulesOf(resource);
  if (replicasPath !== undefined && replicas === UNSAID)
    throw badRequest(`the spec replicas field ${JSON.stringify(replicasPath)} cannot be empty`);
  // A custom resource is validated as a whole, and the error names its own kind.
  if (replicasPath !== undefined) return scale;
  const errors = new FieldErrors();
  errors.invalid("spec.replicas", replicas, "must be greater than or equal to 0");
  throw invalid({ group: "autoscaling", kind: KIND }, info.name, errors.found);
}

function preconditionsOf(scale: ApiObject): {
  uid: string | undefined;
  resourceVersion: string | undefined;
} {
  return { uid: scale.metadata.uid, resourceVersion: versionAsked(scale) };
}

async function answerOf(
  saved: Saved,
  { resource }: Call<StoredResource>,
  { versions }: WriteParts,
): Promise<Answer & { type: "object" }> {
  if (saved.outcome === "stored") await versions.readyToShow([saved.stored], resource);
  const object = saved.outcome === "stored" ? versions.served(saved.stored, resource) : saved.object;
  return { type: "object", code: 200, object: scaleOf(object, resource) };
}

function scaleOf(object: ApiObject, resource: StoredResource, unsaid = 0): ApiObject {
  const rules = rulesOf(resource);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const scale = {
    apiVersion: API_VERSION,
    kind: KIND,
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: rules.replicas(object) ?? unsaid },
    status: { replicas: rules.statusReplicas(object), selector: rules.selector(object) },
  };
  return toNormalForm(scaleSchema(), scale).value as ApiObject;
}

function rulesOf({ rules }: StoredResource): ScaleRules<ApiObject> {
  if (rules.scale === undefined) throw unknownResource();
  return rules.scale;
}

function expected(): { apiVersion: string; kind: string; schema: StructSchema } {
  return { apiVersion: API_VERSION, kind: KIND, schema: scaleSchema() };
}

function scaleSchema(): StructSchema {
  const schema = findKindSchema(API_VERSION, KIND);
  if (schema === undefined) throw new Error("the published API has no Scale");
  return schema;
}
