import { badRequest, conflict, isApiError } from "../../api/errors/api-error.ts";
import type { Status } from "../../api/errors/api-error.ts";
import { FieldErrors } from "../../api/errors/field-error.ts";
import type { DeleteOptions } from "../../api/generated/types/meta-v1.ts";
import { findKindSchema } from "../../api/schema/built-in-schema.ts";
import { DecodeError } from "../../api/schema/decode-error.ts";
import { toNormalForm } from "../../api/schema/normal-form.ts";
import { plainNumber } from "../../api/values/plain-number.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import { deletionOptions } from "../admission/operation-options.ts";
import { groupResource } from "../objects/registry.ts";
import type { StoredResource } from "../objects/registry.ts";
import type { StoredObject } from "../objects/stored-object.ts";
import type { Answer } from "../request/answer.ts";
import type { Call } from "../request/call.ts";
import { isTrue } from "../request/parse-request.ts";
import { RequestNotes } from "../request/request-notes.ts";
import { SERVER_USER } from "../request/server-user.ts";
import type { User } from "../request/user.ts";
import { readOptionalBody } from "../write/body.ts";
import type { Body } from "../write/body.ts";
import { isFinished, planDeletion } from "../write/deletion.ts";
import type { Propagation } from "../write/deletion.ts";
import { ObjectWriter } from "../write/object-writer.ts";
import type { Place, Saved } from "../write/object-writer.ts";
import type { WriteCall, WriteOrigin } from "../write/write-call.ts";
import { checkDryRun, isDryRun, refuseOptions } from "../write/write-options.ts";
import { checkIgnoring, ignoresReadErrors, removeUnreadable } from "./delete-unreadable.ts";
import type { Preconditions } from "./write-steps.ts";
import type { WriteParts } from "./writing.ts";

export async function remove(call: WriteCall<StoredResource>, verbParts: WriteParts): Promise<Answer> {
  const { resource, info } = call;
  const options = await readDeleteOptions(call);
  if (ignoresReadErrors(options)) return removeUnreadable(call, verbParts);
  warnOfDependents(call, options);
  const { user, notes, origin } = call;
  const place = { resource, namespace: info.namespace, name: info.name, user, notes, origin };
  const saved = await removeOne(place, options, verbParts);
  if (saved.outcome === "removed" && !resource.storage.showsDeleted)
    return { type: "status", status: removedStatus(saved.object, resource) };
  const code = options.orphanDependents === false && saved.outcome !== "removed" ? 202 : 200;
  if (saved.outcome === "stored") return { type: "stored", code, stored: saved.stored, resource };
  return { type: "object", code, object: saved.object };
}

/** A deletion of one object. Its user is the server unless given. */
export interface DeleteTarget extends Place {
  readonly origin: WriteOrigin;
  readonly user?: User;
  readonly notes?: RequestNotes;
  /** `unasked` skips admission. */
  readonly consent?: "asked" | "unasked";
  /** Whether the request names the object. As upstream, admission of a collection's deletion sees no name. */
  readonly request?: "names it" | "is about many";
}

/** Deletes one object, for all deletions: by name, of a collection or by the server. */
export async function removeOne(
  place: DeleteTarget,
  options: DeleteOptions,
  verbParts: WriteParts,
): Promise<Saved> {
  const request = {
    graceSeconds: graceOf(options),
    propagation: propagationOf(options),
    now: verbParts.loop.now(),
  };
  const { uid, resourceVersion } = options.preconditions ?? {};
  const save = { isDryRun: isDryRun(options.dryRun ?? []), onConflict: "retry" } as const;
  const subject = {
    user: SERVER_USER,
    notes: new RequestNotes(),
    ...place,
    name: place.request === "is about many" ? "" : place.name,
    operation: "DELETE",
    verb: "delete",
    subresource: "",
  } as const;
  const isAsked = place.consent !== "unasked";
  const deletion = { ...subject, isDryRun: save.isDryRun, options: () => deletionOptions(options) };
  const admission = isAsked ? verbParts.admission.pass(deletion) : undefined;
  const writer = new ObjectWriter(verbParts, place.origin);
  let isToGo = false;
  const asked = { resource: place.resource, operation: "DELETE", subresource: "" } as const;
  const mayWait = (): boolean => isAsked && verbParts.admission.mayCall(asked);
  const saved = await writer.update(place, { ...save, mayWait }, async (previous) => {
    checkDeletable({ uid, resourceVersion }, previous, place.resource);
    await admission?.judge(previous);
    const plan = planDeletion(previous, place.resource, request);
    isToGo = plan.outcome === "mark and remove";
    if (plan.outcome === "mark and remove") return { outcome: "put first", object: plan.object };
    return plan.outcome === "mark" ? { outcome: "put", object: plan.object } : plan;
  });
  return isToGo && saved.outcome === "stored" ? removeMarked(writer, place, saved.stored) : saved;
}

/** Removes an object that is already marked. Removal by another writer in the meantime counts as success. */
async function removeMarked(writer: ObjectWriter, place: DeleteTarget, stored: StoredObject): Promise<Saved> {
  const object = stored.object as ApiObject;
  const { uid } = object.metadata;
  try {
    return await writer.update(place, { isDryRun: false, onConflict: "retry" }, (previous) => {
      checkDeletable({ uid, resourceVersion: undefined }, previous, place.resource);
      return { outcome: isFinished(previous, place.resource) ? "remove" : "unchanged" };
    });
  } catch (error) {
    if (!isApiError(error, "NotFound") && !isApiError(error, "Conflict")) throw error;
    return { outcome: "removed", object };
  }
}

/** Upstream's words for the change that a failed precondition reveals. */
const HAPPENED = { UID: "deleted and then recreated", ResourceVersion: "modified" } as const;

/** Checks the preconditions. The errors name the kind and both values, unlike those of an update. */
export function checkDeletable(
  { uid, resourceVersion }: Preconditions,
  { metadata }: ApiObject,
  resource: StoredResource,
): void {
  const refuse = (what: keyof typeof HAPPENED, asked: string, its = ""): void => {
    if (asked === its) return;
    const { name = "" } = metadata;
    const { group, kind } = resource.facts;
    // As upstream: kinds with their own deletion mark answer like an update does.
    if (resource.rules.markDeleted !== undefined) {
      const why = `Precondition failed: ${what} in precondition: ${asked}, ${what} in object meta: ${its}`;
      throw conflict(groupResource(resource), name, why);
    }
    const why = `the ${what} in the precondition (${asked}) does not match the ${what} in record (${its}). The object might have been ${HAPPENED[what]}`;
    throw conflict({ group, resource: kind }, name, why);
  };
  if (uid !== undefined) refuse("UID", uid, metadata.uid);
  if (resourceVersion !== undefined) refuse("ResourceVersion", resourceVersion, metadata.resourceVersion);
}

/** Reads the options from the body or, for simple clients, from the query. */
export async function readDeleteOptions(call: Call): Promise<DeleteOptions> {
  const body = await readOptionalBody(call.request, { schemaOf: findKindSchema });
  const options = body === undefined ? optionsInQuery(call) : optionsInBody(body);
  const errors = new FieldErrors();
  checkPropagation(options, errors);
  checkDryRun(options.dryRun ?? [], errors);
  checkIgnoring(options, errors);
  refuseOptions("DeleteOptions", errors);
  return options;
}

function optionsInBody(body: Body): DeleteOptions {
  const schema = findKindSchema("v1", "DeleteOptions");
  if (schema === undefined) throw new Error("the published API has no DeleteOptions");
  const { kind = "", apiVersion = "v1" } = body.value;
  if (kind !== "DeleteOptions" && kind !== "" && kind !== null)
    throw badRequest(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`,
    );
  try {
    // Every group has its own DeleteOptions; all are the same.
    const { value } = toNormalForm(schema, { ...body.value, apiVersion: "v1", kind: "DeleteOptions" });
    return value as DeleteOptions;
  } catch (error) {
    throw error instanceof DecodeError ? badRequest(error.message) : error;
  }
}

function optionsInQuery({ query }: Call): DeleteOptions {
  const grace = query.get("gracePeriodSeconds");
  const orphan = query.get("orphanDependents");
  const policy = query.get("propagationPolicy");
  const uid = query.get("uid") ?? "";
  const resourceVersion = query.get("resourceVersion") ?? "";
  const ignoring = query.get("ignoreStoreReadErrorWithClusterBreakingPotential");
  return {
    apiVersion: "v1",
    kind: "DeleteOptions",
    ...(ignoring !== null && { ignoreStoreReadErrorWithClusterBreakingPotential: isTrue(ignoring) }),
    dryRun: query.getAll("dryRun"),
    ...(grace !== null && { gracePeriodSeconds: wholeNumber(grace) }),
    ...(orphan !== null && { orphanDependents: isTrue(orphan) }),
    ...(policy !== null && { propagationPolicy: policy }),
    ...((uid !== "" || resourceVersion !== "") && {
      preconditions: {
        ...(uid !== "" && { uid }),
        ...(resourceVersion !== "" && { resourceVersion }),
      },
    }),
  };
}

/** Warns for kinds whose default orphans the dependents, which surprises most users. */
export function warnOfDependents({ resource, notes }: Call<StoredResource>, options: DeleteOptions): void {
  const { deletionWarning } = resource.rules;
  if (deletionWarning === undefined || propagationOf(options) !== undefined) return;
  notes.warn(deletionWarning);
}

const POLICIES: readonly string[] = ["Foreground", "Background", "Orphan", "nil"];

function checkPropagation({ propagationPolicy, orphanDependents }: DeleteOptions, errors: FieldErrors): void {
  if (propagationPolicy === undefined) return;
  if (orphanDependents !== undefined) {
    const why = "orphanDependents and deletionPropagation cannot be both set";
    errors.invalid("propagationPolicy", propagationPolicy, why);
  }
  if (findPolicy(propagationPolicy) === undefined)
    errors.notSupported("propagationPolicy", propagationPolicy, POLICIES);
}

function graceOf({ gracePeriodSeconds: seconds }: DeleteOptions): number | undefined {
  return seconds === undefined ? undefined : plainNumber(seconds);
}

function wholeNumber(text: string): number {
  if (!/^-?\d{1,15}$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

function propagationOf({ propagationPolicy, orphanDependents }: DeleteOptions): Propagation | undefined {
  if (orphanDependents !== undefined) return orphanDependents ? "Orphan" : "Background";
  return findPolicy(propagationPolicy);
}

function findPolicy(text: string | undefined): Propagation | undefined {
  return text === "Background" || text === "Foreground" || text === "Orphan" ? text : undefined;
}

function removedStatus({ metadata }: ApiObject, { facts }: StoredResource): Status {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: {
      name: metadata.name ?? "",
      ...(facts.group !== "" && { group: facts.group }),
      kind: facts.name,
      uid: metadata.uid ?? "",
    },
  };
}
