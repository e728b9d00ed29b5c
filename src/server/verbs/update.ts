import { badRequest, conflict, invalid, isApiError } from "../../api/errors/api-error.ts";
import { FieldErrors } from "../../api/errors/field-error.ts";
import { type Soon, whenDone } from "../../base/loop/soon.ts";
import type { ApiObject, Draft } from "../../resources/rules/kind-rules.ts";
import { createPermission } from "../access/authz/create-permission.ts";
import { callPass } from "../admission/call-pass.ts";
import type { StoredResource } from "../objects/registry.ts";
import type { Answer } from "../request/answer.ts";
import type { Call } from "../request/call.ts";
import { paced } from "../request/pace.ts";
import { versionAsked } from "../write/asked-version.ts";
import { expectedKind, readObject, refuseMistake } from "../write/incoming.ts";
import type { Incoming } from "../write/incoming.ts";
import { groupResource, ObjectWriter } from "../write/object-writer.ts";
import type { Next } from "../write/object-writer.ts";
import { admittedDraft, admittedObject, admittedRevision } from "../write/revise.ts";
import type { Endpoint } from "../write/revise.ts";
import { track, writerOf } from "../write/tracking.ts";
import { writeOptionsOf } from "../write/write-options.ts";
import { noteWarnings, shown, withSentVersion } from "./create.ts";
import type { VerbParts } from "./verb.ts";

export async function update(call: Call<StoredResource>, verbParts: VerbParts): Promise<Answer> {
  const { resource, info } = call;
  const { isDryRun } = writeOptionsOf(call);
  const incoming = await readObject(call, expectedKind(resource, info.subresource), verbParts.pace);
  const { object } = incoming;
  checkPlace(object, call);
  const asked = versionAsked(object);
  const place = { resource, namespace: info.namespace, name: info.name };
  try {
    const options = { isDryRun, onConflict: asked === "" ? "retry" : "fail" } as const;
    const saved = await new ObjectWriter(verbParts).update(place, options, (previous) => {
      const { uid } = object.metadata;
      checkPreconditions({ uid, resourceVersion: undefined }, previous, resource);
      // Required only for an object that exists: an update that creates has no version to name.
      requireVersion(object, resource);
      checkPreconditions({ uid, resourceVersion: asked }, previous, resource);
      refuseMistake(incoming);
      return whenDone(successor(incoming, previous, { call, verbParts }), (next) => {
        noteWarnings(object, call, previous);
        return put(next);
      });
    });
    return shown(saved, resource, 200);
  } catch (error) {
    const mayCreate = resource.storage.createsOnUpdate && info.subresource === "";
    if (!mayCreate || !isApiError(error, "NotFound")) throw error;
    const nobody = { metadata: { name: info.name } } as ApiObject;
    checkPreconditions({ uid: object.metadata.uid, resourceVersion: undefined }, nobody, resource);
    return createInstead(incoming, call, verbParts);
  }
}

export function put(object: ApiObject): Next {
  return { outcome: "put", object };
}

/** A request and the parts of the server that answer it. */
export interface Writing {
  readonly call: Call<StoredResource>;
  readonly verbParts: VerbParts;
}

export function endpointOf({ info, endpoint }: Call): Endpoint {
  return endpoint ?? (info.subresource === "status" ? "status" : "main");
}

/** Computes the object that results from a client's update. */
export function successor(
  { object, sentManagedFields, units }: Pick<Incoming, "object" | "sentManagedFields" | "units">,
  previous: ApiObject,
  { call, verbParts }: Writing,
): Soon<ApiObject> {
  const { resource, info } = call;
  const { user, manager } = writeOptionsOf(call);
  const now = verbParts.loop.now();
  const admission = callPass({ call, verbParts }, "UPDATE");
  const { pace } = verbParts;
  pace.weigh(units);
  const context = { now, user, admission, pace };
  const revision = { object, previous, endpoint: endpointOf(call) };
  const writer = writerOf(resource, verbParts.versions, { manager, subresource: info.subresource, now });
  admission?.showWriter(writer, sentManagedFields);
  const tracked = paced(pace, admittedRevision(revision, resource, context), (next) =>
    track({ live: previous, next, asked: admission?.asked, writer, sentManagedFields }),
  );
  return paced(pace, tracked, (object) => object);
}

async function createInstead(
  { object, sentManagedFields }: Incoming,
  call: Call<StoredResource>,
  verbParts: VerbParts,
): Promise<Answer> {
  const { resource, info } = call;
  const { isDryRun, user, manager } = writeOptionsOf(call);
  const now = verbParts.loop.now();
  const uid = verbParts.loop.random("uids").uuid();
  const admission = callPass({ call, verbParts }, "CREATE");
  await admission?.ready(object);
  const asked = object as Draft<ApiObject>;
  if (resource.facts.namespaced) asked.metadata.namespace ??= info.namespace;
  else delete asked.metadata.namespace;
  const { pace } = verbParts;
  const sentVersion = asked.metadata.resourceVersion;
  const draft = await admittedDraft(asked, resource, { admission, pace });
  checkPlace(draft, call);
  const permission = createPermission(call, verbParts.authorizer);
  const context = { now, user, notes: call.notes, uid, admission, permission, pace };
  const next = await admittedObject(draft, resource, context);
  noteWarnings(next, call);
  const writer = writerOf(resource, verbParts.versions, { manager, subresource: "", now });
  const made = track({ live: undefined, next, asked: admission?.asked, writer, sentManagedFields });
  const place = { resource, namespace: info.namespace, name: info.name };
  const saved = await new ObjectWriter(verbParts).create(place, made, { isDryRun });
  return shown(withSentVersion(saved, sentVersion), resource, 201);
}

export function checkPlace({ metadata }: ApiObject, { info, resource }: Call<StoredResource>): void {
  if (resource.facts.namespaced && (metadata.namespace ?? info.namespace) !== info.namespace)
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  if ((metadata.name ?? "") === "") throw nameless(info.name);
  if (metadata.name !== info.name) {
    throw badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${info.name})`,
    );
  }
}

/** Error for an object without a name, sent to the path of an existing object. */
export function nameless(name: string): Error {
  return badRequest(
    `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
  );
}

export interface Preconditions {
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
}

export function checkPreconditions(
  { uid, resourceVersion }: Preconditions,
  { metadata }: ApiObject,
  resource: StoredResource,
): void {
  const { name = "" } = metadata;
  if (uid !== undefined && uid !== "" && uid !== metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid ?? ""}`;
    throw conflict(groupResource(resource), name, why);
  }
  if (
    resourceVersion !== undefined &&
    resourceVersion !== "" &&
    resourceVersion !== metadata.resourceVersion
  ) {
    throw conflict(groupResource(resource), name);
  }
}

/**
 * Requires a resourceVersion for kinds without unconditional updates. The refusal names the resource, as upstream's; others name the
 * kind.
 */
export function requireVersion(object: ApiObject, { facts, storage }: StoredResource): void {
  if (storage.updatesUnconditionally || versionAsked(object) !== "") return;
  const errors = new FieldErrors();
  errors.invalid("metadata.resourceVersion", 0, "must be specified for an update");
  throw invalid({ group: facts.group, kind: facts.name }, object.metadata.name ?? "", errors.found);
}
