import { badRequest, generateNameConflict, isApiError, versionOnCreate } from "../../api/errors/api-error.ts";
import { generateName } from "../../api/values/names.ts";
import type { ApiObject, Draft } from "../../resources/rules/kind-rules.ts";
import type { AdmissionPass } from "../admission/admission.ts";
import { callPass } from "../admission/call-pass.ts";
import type { SharedSpec } from "../objects/caches/shared-specs.ts";
import type { StoredResource } from "../objects/registry.ts";
import { withResourceVersion } from "../objects/stored-object.ts";
import type { Answer, ObjectAnswer, StoredAnswer } from "../request/answer.ts";
import type { Call } from "../request/call.ts";
import { isVersion } from "../write/asked-version.ts";
import { readObject } from "../write/incoming.ts";
import { ObjectWriter } from "../write/object-writer.ts";
import type { Saved } from "../write/object-writer.ts";
import { admittedDraft, admittedObject, isTakenAsSent } from "../write/revise.ts";
import { track, writerOf } from "../write/tracking.ts";
import type { WriteOptions } from "../write/write-options.ts";
import { writeOptionsOf } from "../write/write-options.ts";
import type { VerbParts } from "./verb.ts";

/** Same number as upstream's. */
const NAME_TRIES = 8;

export async function create(call: Call<StoredResource>, verbParts: VerbParts): Promise<Answer> {
  const { resource } = call;
  const { apiVersion, facts, schema, specs } = resource;
  const expected = { apiVersion, kind: facts.kind, schema, specs };
  const options = writeOptionsOf(call);
  const { object, sentManagedFields, shared, mistake } = await readObject(call, expected, verbParts.pace);
  if (mistake !== undefined) throw mistake;
  const draft = object as Draft<ApiObject>;
  placeInNamespace(draft, call);
  forgetSystemFields(draft.metadata);
  const admission = callPass({ call, verbParts }, "CREATE", nameOf(draft));
  admission?.showOwners(ownersShown({ admission, sentManagedFields, options }, call, verbParts));
  const waiting = admission?.ready(draft);
  if (waiting !== undefined) await waiting;
  const known = isTakenAsSent(resource) ? { ...draft } : undefined;
  const sentVersion = draft.metadata.resourceVersion;
  const fresh = { draft, options, sentManagedFields, admission, shared, known, sentVersion };
  return shown(await createNamed(fresh, call, verbParts), resource, 201);
}

/** Computes managed fields during admission, because webhooks see the field owners. */
function ownersShown(
  { admission, sentManagedFields, options }: Pick<New, "sentManagedFields" | "options" | "admission">,
  { resource }: Call<StoredResource>,
  { loop, versions }: VerbParts,
): (object: ApiObject) => ApiObject {
  const { manager } = options;
  return (next) => {
    const writer = writerOf(resource, versions, { manager, subresource: "", now: loop.now() });
    return track({ live: undefined, next, asked: admission?.asked, writer, sentManagedFields });
  };
}

/** Warns about values that users should not write. A subresource gets no warnings: the user did not write the rest of the object. */
export function noteWarnings(
  object: ApiObject,
  { resource, info, notes }: Call<StoredResource>,
  previous?: ApiObject,
): void {
  if (info.subresource === "") notes.warnAll(resource.rules.warnings?.(object, previous) ?? []);
}

export function shown(saved: Saved, resource: StoredResource, code: number): StoredAnswer | ObjectAnswer {
  if (saved.outcome === "stored") return { type: "stored", code, stored: saved.stored, resource };
  return { type: "object", code, object: saved.object };
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

/** Drops fields that only the server sets, for a client that posts a copy of an existing object. */
function forgetSystemFields(metadata: Draft<ApiObject>["metadata"]): void {
  delete metadata.creationTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.deletionTimestamp;
  delete metadata.selfLink;
  delete metadata.uid;
}

/** The generateName prefix when the name is still to be generated. */
function nameOf({ metadata }: ApiObject): string {
  const { name = "", generateName: base = "" } = metadata;
  return name === "" ? base : name;
}

interface New {
  readonly draft: Draft<ApiObject>;
  readonly options: WriteOptions;
  readonly sentManagedFields: unknown;
  readonly admission: AdmissionPass | undefined;
  readonly shared: SharedSpec | undefined;
  /** The object as sent. Set only where admission is the only step that changes it. */
  readonly known: ApiObject | undefined;
  readonly sentVersion: string | undefined;
}

async function createNamed(fresh: New, call: Call<StoredResource>, verbParts: VerbParts): Promise<Saved> {
  const { draft, admission, shared } = fresh;
  const { resource } = call;
  const { pace } = verbParts;
  const random = verbParts.loop.random("names");
  const admitted = await admittedDraft(draft, resource, { admission, shared, pace });
  // Admission may have set a name, and must not move the object to another namespace.
  placeInNamespace(admitted, call);
  const { name = "", generateName: base = "" } = admitted.metadata;
  // This frame keeps no reference during the write: the garbage collector would copy the object at each collection.
  if (base === "") return createOnce({ ...fresh, draft: admitted }, call, verbParts);
  // A request with both name and generateName gets one try and the same error.
  const tries = name === "" ? NAME_TRIES : 1;
  for (let attempt = 1; ; attempt++) {
    if (tries > 1) admitted.metadata.name = generateName(base, random);
    try {
      return await createOnce({ ...fresh, draft: admitted }, call, verbParts);
    } catch (error) {
      if (!isApiError(error, "AlreadyExists")) throw error;
      if (attempt === tries) throw generateNameConflict(error);
    }
  }
}

async function createOnce(
  { draft, options, sentManagedFields, admission, shared, known, sentVersion }: New,
  call: Call<StoredResource>,
  verbParts: VerbParts,
): Promise<Saved> {
  const { resource, info } = call;
  const { isDryRun, user, manager } = options;
  const now = verbParts.loop.now();
  const uid = verbParts.loop.random("uids").uuid();
  const { notes } = call;
  const { pace } = verbParts;
  const context = { now, user, notes, uid, admission, shared, known, pace };
  const made = await admittedObject(draft, resource, context);
  noteWarnings(made, call);
  const checking = pace.rest();
  if (checking !== undefined) await checking;
  const writer = writerOf(resource, verbParts.versions, { manager, subresource: "", now });
  const object = track({ live: undefined, next: made, asked: admission?.asked, writer, sentManagedFields });
  const resting = pace.rest();
  if (resting !== undefined) await resting;
  const place = { resource, namespace: info.namespace, name: object.metadata.name ?? "" };
  // Upstream's store refuses this version. A dry run never reaches the store.
  if (!isDryRun && isVersion(sentVersion)) throw versionOnCreate();
  return withSentVersion(await new ObjectWriter(verbParts).create(place, object, { isDryRun }), sentVersion);
}

/** A dry run shows the resourceVersion as sent: nothing is stored, so there is no new one. */
export function withSentVersion(saved: Saved, sentVersion: string | undefined): Saved {
  if (saved.outcome === "stored" || sentVersion === undefined) return saved;
  return { ...saved, object: withResourceVersion(saved.object, sentVersion) };
}
