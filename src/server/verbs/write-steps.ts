/** Steps that the writing verbs share: checks of the request against the object, warnings, and the answer. */
import { badRequest, conflict, invalid } from "../../api/errors/api-error.ts";
import { FieldErrors } from "../../api/errors/field-error.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import { groupResource } from "../objects/registry.ts";
import type { StoredResource } from "../objects/registry.ts";
import type { ObjectAnswer, StoredAnswer } from "../request/answer.ts";
import type { Call } from "../request/call.ts";
import type { Saved } from "../write/object-writer.ts";
import { versionAsked } from "../write/write-options.ts";
import type { Writing } from "./writing.ts";

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

/** Tells whether the update may call a webhook. */
export function mayWaitFor({ call, verbParts }: Writing): () => boolean {
  const { resource, info } = call;
  const request = { resource, operation: "UPDATE", subresource: info.subresource } as const;
  return () => verbParts.admission.mayCall(request);
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
