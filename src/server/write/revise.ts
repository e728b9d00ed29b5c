/**
 * Turns the object of a request into the object to store: defaults, server-owned fields, validation. Create, update,
 * patch, apply and the status subresource share the stages.
 */
import { invalid } from "../../api/errors/api-error.ts";
import { collectFieldErrors, fieldErrorText } from "../../api/errors/field-error.ts";
import type { FieldError, FieldErrors } from "../../api/errors/field-error.ts";
import { cloneJson } from "../../api/json/json-clone.ts";
import { isJsonObject, setOwn } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { shareParts } from "../../api/json/json-share.ts";
import { validateMetadata, validateMetadataUpdate } from "../../api/metadata.ts";
import type { MetadataRules } from "../../api/metadata.ts";
import { dns1123Subdomain } from "../../api/values/names.ts";
import type { ApiObject, Draft, KindRules, RuleContext } from "../../resources/rules/kind-rules.ts";
import { keepParts } from "../../resources/rules/metadata-parts.ts";
import type { EndpointRules } from "../objects/endpoint-rules.ts";
import type { StoredResource } from "../objects/registry.ts";
import type { SharedSpec } from "../objects/spec-cache.ts";
import type { Pace } from "../request/pace.ts";
import { normal } from "./incoming.ts";
import { carryOver, metadataOfNew, withGeneration } from "./system-metadata.ts";
import type { NewIdentity } from "./system-metadata.ts";

/** The part of an object that an endpoint may change, or the endpoint's own rules. */
export type Endpoint = "main" | "status" | EndpointRules;

type WithStatus = Draft<ApiObject> & { status?: unknown };

/** Admission, as a write uses it. */
interface Reviewers {
  /** Changes the draft. `refine` brings an object from a webhook to normal form and adds defaults. */
  mutate(
    draft: Draft<ApiObject>,
    refine: (changed: ApiObject) => Draft<ApiObject>,
    previous?: ApiObject,
  ): Promise<Draft<ApiObject>>;
  /** Rejects if the object is refused. */
  validate(object: ApiObject, previous?: ApiObject): Promise<void>;
}

interface WriteContext extends RuleContext {
  /** Admission plugins of the write; undefined to skip admission. */
  readonly admission?: Reviewers | undefined;
  /** Lookup of the spec of a new object among known specs. */
  readonly shared?: SharedSpec | undefined;
  /** The object in normal form, before admission replaced parts of it. */
  readonly known?: ApiObject | undefined;
  /** Authorizes a create when the request was authorized as an update or a patch. */
  readonly permission?: (() => Promise<void>) | undefined;
  /** Splits the work into steps. Without it the work runs in one step. */
  readonly pace?: Pace | undefined;
}

/** A new object that the server itself makes. Admission is skipped. `known` is the draft, if it is in normal form. */
export function newObject(
  draft: Draft<ApiObject>,
  resource: StoredResource,
  context: RuleContext & NewIdentity & Pick<WriteContext, "known">,
): ApiObject {
  return validNew(withNewDefaults(draft, resource), resource, context);
}

/** Whether the rules of the kind leave new objects unchanged, so that only admission may replace parts. */
export function isTakenAsSent({ rules }: StoredResource): boolean {
  return rules.defaults === undefined && rules.prepareCreate === undefined;
}

/** The draft of a new object after mutating admission. It has no generated name and no uid yet. */
export async function admittedDraft(
  draft: Draft<ApiObject>,
  resource: StoredResource,
  { admission, shared, pace }: Pick<WriteContext, "admission" | "shared" | "pace">,
): Promise<Draft<ApiObject>> {
  const begun = withNewDefaults(draft, resource, shared);
  // A custom kind may have any number of defaults.
  if (resource.custom !== undefined) pace?.weigh(Infinity);
  const refine = (changed: ApiObject): Draft<ApiObject> =>
    withNewDefaults(draftOf(inNormalForm(changed, resource)), resource);
  if (admission === undefined) return begun;
  await pace?.rest();
  return admission.mutate(begun, refine);
}

/** The new object after validating admission. May be called again with the same draft and another name. */
export async function admittedObject(
  draft: Draft<ApiObject>,
  resource: StoredResource,
  context: WriteContext & NewIdentity,
): Promise<ApiObject> {
  const { pace, admission, permission } = context;
  await pace?.rest();
  const object = completedNew(draft, resource, context);
  await pace?.rest();
  checkedNew(object, resource);
  await pace?.rest();
  if (permission !== undefined) await permission();
  await admission?.validate(object);
  return object;
}

function withNewDefaults(
  draft: Draft<ApiObject>,
  resource: StoredResource,
  shared?: SharedSpec,
): Draft<ApiObject> {
  const { rules } = resource;
  if (hasStatus(resource) && rules.keepsStatus !== true) dropStatus(draft, resource);
  if (shared?.defaulted !== undefined && shared.defaulted === specOf(draft)) return draft;
  rules.defaults?.(draft);
  shared?.keepDefaulted(specOf(draft));
  return draft;
}

function validNew(
  given: Draft<ApiObject>,
  resource: StoredResource,
  context: WriteContext & NewIdentity,
): ApiObject {
  return checkedNew(completedNew(given, resource, context), resource);
}

function completedNew(
  given: Draft<ApiObject>,
  resource: StoredResource,
  context: WriteContext & NewIdentity,
): ApiObject {
  const { rules } = resource;
  const draft = withOwnSpec(given);
  draft.metadata = metadataOfNew(draft.metadata, resource, context);
  rules.prepareCreate?.(draft, context);
  return named(newInNormalForm(draft, resource, context));
}

function checkedNew(object: ApiObject, resource: StoredResource): ApiObject {
  const { rules } = resource;
  const found = collectFieldErrors((errors) => {
    validateMetadata(object.metadata, metadataRules(resource), errors);
    rules.validate?.(object, errors);
    rules.validateCreate?.(object, errors);
  });
  refuse(found, object, resource);
  return object;
}

/** Rules may rely on the status members that the normal form always has. */
function dropStatus(draft: WithStatus, { schema }: StoredResource): void {
  const { status } = normal(schema, {}).value;
  if (status === undefined) delete draft.status;
  else draft.status = status;
}

export interface Revision {
  /** The requested object in normal form. It is not changed. */
  readonly object: ApiObject;
  readonly previous: ApiObject;
  readonly endpoint: Endpoint;
  /** `as they are` if the client sent no object: defaults of other versions are not filled in. */
  readonly defaults?: "filled in" | "as they are";
}

/** The updated object by the rules of its kind, without admission. */
export function revisedObject(revision: Revision, resource: StoredResource, context: RuleContext): ApiObject {
  const { previous, endpoint } = revision;
  return validRevision(revisedDraft(revision, resource), { previous, endpoint, resource, context });
}

/** The updated object after admission. */
export async function admittedRevision(
  revision: Revision,
  resource: StoredResource,
  context: WriteContext,
): Promise<ApiObject> {
  const { admission, pace } = context;
  const { previous, endpoint } = revision;
  const refine = (changed: ApiObject): Draft<ApiObject> =>
    revisedDraft({ ...revision, object: inNormalForm(changed, resource, previous) }, resource);
  await pace?.rest();
  let draft = revisedDraft(revision, resource);
  await pace?.rest();
  if (admission !== undefined) draft = await admission.mutate(draft, refine, previous);
  const revising = { previous, endpoint, resource, context };
  await pace?.rest();
  const object = preparedRevision(draft, revising);
  await pace?.rest();
  checkedRevision(object, revising);
  await pace?.rest();
  await admission?.validate(object, previous);
  return object;
}

/** The draft of an update with the defaults of its kind, before admission. */
function revisedDraft(revision: Revision, resource: StoredResource): Draft<ApiObject> {
  const { object, previous, endpoint } = revision;
  const kept = withOtherPart(object, previous, writtenPart(endpoint, resource));
  return requestedDraft({ ...revision, object: kept }, resource);
}

/** As `revisedDraft`, but also with the parts that the endpoint does not write as they were requested. */
export function requestedDraft(
  { object, previous, endpoint, defaults }: Revision,
  resource: StoredResource,
): Draft<ApiObject> {
  const isComplete = typeof endpoint === "string" && hasCompleteSpec(object, resource);
  const draft = draftOf(object, isComplete ? withOwnMembers : cloneJson);
  carryOver(draft, previous, endpoint === "main" ? "sent" : "kept");
  if (!isComplete && defaults !== "as they are") fillIn(draft, endpoint, resource);
  return draft;
}

/** Versions of a custom kind may have different defaults. A status write must not add them to other fields. */
function fillIn(draft: WithStatus, endpoint: Endpoint, resource: StoredResource): void {
  const { rules, custom } = resource;
  if (custom === undefined || endpoint !== "status") return rules.defaults?.(draft);
  const filled: WithStatus = draftOf(draft);
  rules.defaults?.(filled);
  if (filled.status !== undefined) draft.status = filled.status;
}

/** Whether the object has a shared spec that already has its defaults. */
function hasCompleteSpec(object: ApiObject, { specs, rules }: StoredResource): boolean {
  return specs?.isComplete(specOf(object), rules) === true;
}

interface Revising extends Omit<Revision, "object"> {
  readonly resource: StoredResource;
  readonly context: RuleContext;
}

function validRevision(draft: Draft<ApiObject>, revising: Revising): ApiObject {
  return checkedRevision(preparedRevision(draft, revising), revising);
}

function preparedRevision(draft: Draft<ApiObject>, revising: Revising): ApiObject {
  const { previous, endpoint, resource } = revising;
  prepare(draft, revising);
  const next = inNormalForm(shareParts(draft, previous), resource, previous);
  return endpoint === "status" ? next : withGeneration(next, previous, resource);
}

function checkedRevision(object: ApiObject, revising: Revising): ApiObject {
  const { previous, endpoint, resource } = revising;
  const { rules } = resource;
  const found = collectFieldErrors((errors) => {
    validateMetadataUpdate(object.metadata, previous.metadata, { rules: metadataRules(resource), errors });
    if (endpoint !== "status") errors.append(newProblems(object, previous, rules));
    validateAt(object, revising, errors);
  });
  for (const text of found.keptTexts) revising.context.notes?.warn(text);
  refuse(found, object, resource);
  return object;
}

/** Validation errors, without errors that the kind tolerates and the previous object had too. */
function newProblems(object: ApiObject, previous: ApiObject, rules: KindRules): readonly FieldError[] {
  const now = collectFieldErrors((errors) => rules.validate?.(object, errors));
  const isTolerated = (error: FieldError): boolean => rules.tolerates?.(error) === true;
  // A cut list may hide errors that are not tolerated.
  if (now.isCut || !now.found.some(isTolerated)) return now.found;
  const before = collectFieldErrors((errors) => rules.validate?.(previous, errors));
  const known = new Set(before.found.map(fieldErrorText));
  return now.found.filter((error) => !isTolerated(error) || !known.has(fieldErrorText(error)));
}

function writtenPart(endpoint: Endpoint, resource: StoredResource): "main" | "status" | "all" {
  if (endpoint === "status") return "status";
  return endpoint === "main" && hasStatus(resource) ? "main" : "all";
}

/** Applies the endpoint's rules to the draft. */
function prepare(draft: Draft<ApiObject>, { previous, endpoint, resource, context }: Revising): void {
  const { rules } = resource;
  if (endpoint === "main") rules.prepareUpdate?.(draft, previous, context);
  else if (endpoint === "status") {
    keepParts(draft, previous, rules.statusKeeps);
    rules.prepareStatus?.(draft, previous, context);
  } else endpoint.prepare(draft, previous, context);
}

/** Applies the endpoint's validation to the updated object. */
function validateAt(next: ApiObject, { previous, endpoint, resource }: Revising, errors: FieldErrors): void {
  const { rules } = resource;
  if (endpoint === "main") rules.validateUpdate?.(next, previous, errors);
  else if (endpoint === "status") rules.validateStatus?.(next, previous, errors);
  else endpoint.validate(next, previous, errors);
}

/** The main endpoint cannot write status; the status endpoint writes only status and metadata. */
function withOtherPart(
  object: ApiObject,
  previous: ApiObject,
  written: "main" | "status" | "all",
): ApiObject {
  if (written === "all") return object;
  const fields: Record<string, unknown> = { ...object };
  const old = previous as JsonObject;
  for (const key in fields) if (!isWrittenBy(written, key) && old[key] === undefined) delete fields[key];
  for (const key in old) {
    if (!isWrittenBy(written, key) && old[key] !== undefined) setOwn(fields, key, old[key]);
  }
  return fields as ApiObject;
}

function isWrittenBy(written: "main" | "status", key: string): boolean {
  return key === "metadata" || (key === "status") === (written === "status");
}

/** A copy that rules may change. `managedFields` is not copied: no rule uses it, and it is half of a pod. */
function draftOf(object: ApiObject, copySpec: (spec: unknown) => unknown = cloneJson): Draft<ApiObject> {
  const draft: Record<string, unknown> = { ...object };
  for (const key of Object.keys(draft)) {
    if (key === "metadata") draft[key] = metadataDraft(object.metadata);
    else draft[key] = key === "spec" ? copySpec(draft[key]) : cloneJson(draft[key]);
  }
  return draft as Draft<ApiObject>;
}

/** Copies the spec shallowly: members may be replaced, but their values are shared. */
function withOwnMembers(spec: unknown): unknown {
  return { ...(spec as JsonObject) };
}

/** Lets rules replace members of the spec, which may be frozen. */
function withOwnSpec(draft: Draft<ApiObject>): Draft<ApiObject> {
  const spec = specOf(draft);
  return isJsonObject(spec) ? ({ ...draft, spec: withOwnMembers(spec) } as Draft<ApiObject>) : draft;
}

function metadataDraft(metadata: ApiObject["metadata"]): JsonObject {
  const draft: Record<string, unknown> = { ...metadata };
  for (const key of Object.keys(draft)) {
    if (key !== "managedFields") draft[key] = cloneJson(draft[key]);
  }
  return draft;
}

/** The draft in normal form, the stored order of members. Rules append new members at the end. */
function inNormalForm(draft: ApiObject, resource: StoredResource, previous?: ApiObject): ApiObject {
  const known = previous as JsonObject | undefined;
  return normal(resource.schema, draft, known).value as ApiObject;
}

/** A new object in normal form, with the shared spec if there is one. */
function newInNormalForm(
  draft: Draft<ApiObject>,
  resource: StoredResource,
  { shared, known }: Pick<WriteContext, "shared" | "known">,
): ApiObject {
  const admitted = specOf(draft);
  const spec = shared?.findStored(admitted);
  if (spec !== undefined) return normal(resource.schema, { ...draft, spec }, { spec }).value as ApiObject;
  const object = inNormalForm(draft, resource, known);
  shared?.keepStored(admitted, specOf(object));
  return object;
}

function specOf(object: ApiObject & { readonly spec?: unknown }): unknown {
  return object.spec;
}

/** Rules may rely on a name. Metadata validation reports a missing one. */
function named(object: ApiObject): ApiObject {
  const { metadata } = object;
  return metadata.name === undefined ? { ...object, metadata: { ...metadata, name: "" } } : object;
}

function hasStatus({ facts }: StoredResource): boolean {
  return facts.subresources.some(({ name }) => name === "status");
}

function metadataRules({ facts, rules, custom }: StoredResource): MetadataRules {
  return {
    scope: facts.namespaced ? "Namespaced" : "Cluster",
    name: rules.nameRule ?? dns1123Subdomain,
    finalizers: custom === undefined ? "standard or qualified" : "any",
  };
}

function refuse(errors: FieldErrors, { metadata }: ApiObject, { facts }: StoredResource): void {
  if (errors.isEmpty) return;
  throw invalid(
    { group: facts.group, kind: facts.kind },
    metadata.name ?? metadata.generateName ?? "",
    errors.found,
  );
}
