/**
 * Makes a new object from a draft: admission, defaults, the server's own fields, validation, field owners. A create, an
 * update of a missing object and a first apply share these steps.
 */
import { badRequest } from "../../api/errors/api-error.ts";
import type { ApiObject, Draft } from "../../resources/rules/kind-rules.ts";
import type { CreatePermission } from "../access/authz/authorization.ts";
import type { AdmissionPass, WithOwners } from "../admission/admission.ts";
import { callPass } from "../admission/admission.ts";
import type { StoredResource } from "../objects/registry.ts";
import type { SharedSpec } from "../objects/spec-cache.ts";
import { withResourceVersion } from "../objects/stored-object.ts";
import type { Call } from "../request/call.ts";
import { ObjectWriter } from "../write/object-writer.ts";
import type { Saved } from "../write/object-writer.ts";
import { admittedDraft, admittedObject, isTakenAsSent } from "../write/revise.ts";
import { track, fieldWriterOf } from "../write/tracking.ts";
import { writeOptionsOf } from "../write/write-options.ts";
import { checkPlace, noteWarnings } from "./write-steps.ts";
import type { Writing } from "./writing.ts";

export interface NewObject {
  /** The requested object in normal form. It is changed. */
  readonly draft: Draft<ApiObject>;
  readonly withOwners: WithOwners;
  readonly shared?: SharedSpec | undefined;
  /** Authorizes the creation when the request was authorized as an update or a patch. */
  readonly permission?: CreatePermission;
}

/** A new object after mutating admission. Its name may still be generated. */
export interface AdmittedNew extends NewObject {
  readonly admission: AdmissionPass | undefined;
  /** The object as sent. Set only where admission is the only step that changes it. */
  readonly known: ApiObject | undefined;
}

/** The finished object, ready to be stored. */
export async function makeNew(given: NewObject, writing: Writing): Promise<ApiObject> {
  return finishNew(await admitNew(given, writing), writing);
}

export async function admitNew(given: NewObject, writing: Writing): Promise<AdmittedNew> {
  const { draft, shared, withOwners } = given;
  const { call } = writing;
  const { resource, info } = call;
  placeInNamespace(draft, call);
  const admission = callPass(writing, "CREATE", nameOf(draft));
  admission?.showOwners(withOwners);
  const waiting = admission?.ready(draft);
  if (waiting !== undefined) await waiting;
  const known = isTakenAsSent(resource) ? { ...draft } : undefined;
  const { pace } = call.origin;
  const admitted = await admittedDraft(draft, resource, { admission, shared, pace });
  // Admission may have set a name, and must not move the object.
  placeInNamespace(admitted, call);
  if (info.name !== "") checkPlace(admitted, call);
  return { ...given, draft: admitted, admission, known };
}

/** May be called again with the same draft and another name. */
export async function finishNew(
  { draft, admission, shared, known, permission, withOwners }: AdmittedNew,
  { call, verbParts }: Writing,
): Promise<ApiObject> {
  const { resource, user, notes } = call;
  const { loop } = verbParts;
  const { pace } = call.origin;
  const uid = loop.random("uids").uuid();
  const context = { now: loop.now(), user, notes, uid, admission, shared, known, permission, pace };
  const made = await admittedObject(draft, resource, context);
  noteWarnings(made, call);
  const checking = pace.rest();
  if (checking !== undefined) await checking;
  const object = withOwners(made, admission?.asked);
  const resting = pace.rest();
  if (resting !== undefined) await resting;
  return object;
}

/** Stores a new object. A dry run shows the resourceVersion as sent: nothing is stored, so there is no new one. */
export async function storeNew(
  object: ApiObject,
  sentVersion: string | undefined,
  { call, verbParts }: Writing,
): Promise<Saved> {
  const { resource, info } = call;
  const place = { resource, namespace: info.namespace, name: object.metadata.name ?? "" };
  const { isDryRun } = writeOptionsOf(call);
  const saved = await new ObjectWriter(verbParts, call.origin).create(place, object, { isDryRun });
  if (saved.outcome === "stored" || sentVersion === undefined) return saved;
  return { ...saved, object: withResourceVersion(saved.object, sentVersion) };
}

/** Field owners of an object that the client sent whole. */
export function ownersOfNew({ call, verbParts }: Writing, sentManagedFields: unknown): WithOwners {
  const { resource } = call;
  const { manager } = writeOptionsOf(call);
  return (next, asked) => {
    const now = verbParts.loop.now();
    const writer = fieldWriterOf(resource, verbParts.versions, { manager, subresource: "", now });
    return track({ live: undefined, next, asked, writer, sentManagedFields });
  };
}

function placeInNamespace(draft: Draft<ApiObject>, { resource, info }: Call<StoredResource>): void {
  const { metadata } = draft;
  if (!resource.facts.namespaced) {
    // Manifests of cluster-scoped objects may name a namespace.
    delete metadata.namespace;
    return;
  }
  if (info.namespace === "") throw badRequest("an empty namespace may not be set during creation");
  if ((metadata.namespace ?? info.namespace) !== info.namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  metadata.namespace = info.namespace;
}

/** The generateName prefix when the name is still to be generated. */
function nameOf({ metadata }: ApiObject): string {
  const { name = "", generateName: base = "" } = metadata;
  return name === "" ? base : name;
}
