/**
 * From what a client sent to what is stored: defaults, the server's own fields, validation. The same stages for create,
 * update, patch and apply, and for the status subresource.
 */
import { invalid } from "../../api/errors/api-error.ts";
import { collectFieldErrors, fieldErrorText } from "../../api/errors/field-error.ts";
import type { FieldError, FieldErrors } from "../../api/errors/field-error.ts";
import { cloneJson } from "../../api/json/json-clone.ts";
import { setOwn } from "../../api/json/json-object.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { validateMetadata, validateMetadataUpdate } from "../../api/metadata.ts";
import type { MetadataRules } from "../../api/metadata.ts";
import { dns1123Subdomain } from "../../api/values/names.ts";
import { type Soon, whenDone } from "../../base/loop/soon.ts";
import type { ApiObject, Draft, KindRules, RuleContext } from "../../resources/rules/kind-rules.ts";
import { keepParts } from "../../resources/rules/metadata-parts.ts";
import { shareParts } from "../objects/caches/shared-parts.ts";
import { withOwnSpec } from "../objects/caches/shared-specs.ts";
import type { SharedSpec } from "../objects/caches/shared-specs.ts";
import type { EndpointRules } from "../objects/endpoint-rules.ts";
import type { StoredResource } from "../objects/registry.ts";
import { type Pace, paced } from "../request/pace.ts";
import { normal } from "./incoming.ts";
import { carryOver, metadataAtBirth, withGeneration } from "./system-metadata.ts";
import type { Birth } from "./system-metadata.ts";

/** Which part of an object an endpoint may change, or by which rules of its own. */
export type Endpoint = "main" | "status" | EndpointRules;

type WithStatus = Draft<ApiObject> & { status?: unknown };

/** Admission as a write sees it. */
interface Reviewers {
  /** Changes the draft. `refine` brings an object that a webhook made to normal form with defaults. */
  mutate(
    draft: Draft<ApiObject>,
    refine: (changed: ApiObject) => Draft<ApiObject>,
    previous?: ApiObject,
  ): Soon<Draft<ApiObject>>;
  /** Throws or rejects when the object is refused. */
  validate(object: ApiObject, previous?: ApiObject): Soon<void>;
}

interface WriteContext extends RuleContext {
  /** Who else has a say in what is written. */
  readonly admission?: Reviewers | undefined;
  /** Where the spec of a new object may already be known. */
  readonly shared?: SharedSpec | undefined;
  /** The object in normal form, before anybody replaced parts of it. */
  readonly known?: ApiObject | undefined;
  /** Authorizes the creation where the request was authorized as an update or a patch. */
  readonly permission?: () => Soon<void>;
  /** Without one the work is done in one piece. */
  readonly pace?: Pace | undefined;
}

/** A new object of the server's own, about which nobody is asked. */
export function newObject(
  draft: Draft<ApiObject>,
  resource: StoredResource,
  context: RuleContext & Birth,
): ApiObject {
  return validNew(withNewDefaults(draft, resource), resource, context);
}

/** Whether the rules of the kind leave new objects as they are: only admission may replace parts of them. */
export function isTakenAsSent({ rules }: StoredResource): boolean {
  return rules.defaults === undefined && rules.prepareCreate === undefined;
}

/** What a client sent for a new object, after everybody who may change it had their say. It has no name or identity by us yet. */
export function admittedDraft(
  draft: Draft<ApiObject>,
  resource: StoredResource,
  { admission, shared, pace }: Pick<WriteContext, "admission" | "shared" | "pace">,
): Soon<Draft<ApiObject>> {
  const begun = withNewDefaults(draft, resource, shared);
  // A custom kind may have defaults of any length.
  if (resource.custom !== undefined) pace?.weigh(Infinity);
  const refine = (changed: ApiObject): Draft<ApiObject> =>
    withNewDefaults(draftOf(settled(changed, resource)), resource);
  if (admission === undefined) return begun;
  return paced(pace, begun, (started) => admission.mutate(started, refine));
}

/** The new object, once nobody refuses it. May be called again with the same draft under another name. */
export function admittedObject(
  draft: Draft<ApiObject>,
  resource: StoredResource,
  context: WriteContext & Birth,
): Soon<ApiObject> {
  const { pace, admission } = context;
  const born = paced(pace, draft, (started) => bornObject(started, resource, context));
  const valid = paced(pace, born, (object) => validAtBirth(object, resource));
  const permitted = paced(pace, valid, (object) => whenDone(context.permission?.(), () => object));
  return paced(pace, permitted, (object) => whenDone(admission?.validate(object), () => object));
}

function withNewDefaults(
  draft: Draft<ApiObject>,
  resource: StoredResource,
  shared?: SharedSpec,
): Draft<ApiObject> {
  const { rules } = resource;
  if (hasStatus(resource) && rules.keepsStatus !== true) dropStatus(draft, resource);
  if (shared?.begun !== undefined && shared.begun === specOf(draft)) return draft;
  rules.defaults?.(draft);
  shared?.begin(specOf(draft));
  return draft;
}

function validNew(
  given: Draft<ApiObject>,
  resource: StoredResource,
  context: WriteContext & Birth,
): ApiObject {
  return validAtBirth(bornObject(given, resource, context), resource);
}

function bornObject(
  given: Draft<ApiObject>,
  resource: StoredResource,
  context: WriteContext & Birth,
): ApiObject {
  const { rules } = resource;
  const draft = withOwnSpec(given);
  draft.metadata = metadataAtBirth(draft.metadata, resource, context);
  rules.prepareCreate?.(draft, context);
  return named(settledNew(draft, resource, context));
}

function validAtBirth(object: ApiObject, resource: StoredResource): ApiObject {
  const { rules } = resource;
  const found = collectFieldErrors((errors) => {
    validateMetadata(object.metadata, metadataRules(resource), errors);
    rules.validate?.(object, errors);
    rules.validateCreate?.(object, errors);
  });
  refuse(found, object, resource);
  return object;
}

/** Rules may rely on the parts of a status that are always there in normal form. */
function dropStatus(draft: WithStatus, { schema }: StoredResource): void {
  const { status } = normal(schema, {}).value;
  if (status === undefined) delete draft.status;
  else draft.status = status;
}

export interface Revision {
  /** What it shall become, in normal form. It is not changed. */
  readonly object: ApiObject;
  readonly previous: ApiObject;
  readonly endpoint: Endpoint;
  /** `as they are` where nobody sent an object: no other version's defaults are filled in. */
  readonly defaults?: "filled in" | "as they are";
}

/** What the object becomes by the rules of its kind; nobody else is asked. */
export function revisedObject(revision: Revision, resource: StoredResource, context: RuleContext): ApiObject {
  const { previous, endpoint } = revision;
  return validRevision(revisedDraft(revision, resource), { previous, endpoint, resource, context });
}

/** The same, once nobody refuses it. */
export function admittedRevision(
  revision: Revision,
  resource: StoredResource,
  context: WriteContext,
): Soon<ApiObject> {
  const { admission, pace } = context;
  const { previous, endpoint } = revision;
  const refine = (changed: ApiObject): Draft<ApiObject> =>
    revisedDraft({ ...revision, object: settled(changed, resource, previous) }, resource);
  const begun = paced(pace, revision, (asked) => revisedDraft(asked, resource));
  const mutated = paced(pace, begun, (draft) => admission?.mutate(draft, refine, previous) ?? draft);
  const succession = { previous, endpoint, resource, context };
  const next = paced(pace, mutated, (draft) => settledRevision(draft, succession));
  const valid = paced(pace, next, (object) => checkedRevision(object, succession));
  return paced(pace, valid, (object) => whenDone(admission?.validate(object, previous), () => object));
}

/** With the defaults of its kind, before anybody has a say in it. */
export function revisedDraft(
  { object, previous, endpoint, defaults }: Revision,
  resource: StoredResource,
): Draft<ApiObject> {
  const kept = withOtherPart(object, previous, writtenPart(endpoint, resource));
  const isComplete = typeof endpoint === "string" && hasCompleteSpec(kept, resource);
  const draft = draftOf(kept, isComplete ? withOwnMembers : cloneJson);
  carryOver(draft, previous, endpoint === "main" ? "sent" : "kept");
  if (!isComplete && defaults !== "as they are") fillIn(draft, endpoint, resource);
  return draft;
}

/** Versions of a custom kind may have defaults that others have not: who writes status does not bring them into the rest. */
function fillIn(draft: WithStatus, endpoint: Endpoint, resource: StoredResource): void {
  const { rules, custom } = resource;
  if (custom === undefined || endpoint !== "status") return rules.defaults?.(draft);
  const filled: WithStatus = draftOf(draft);
  rules.defaults?.(filled);
  if (filled.status !== undefined) draft.status = filled.status;
}

/** Whether the object has a spec that many others have too, and that has its defaults. */
function hasCompleteSpec(object: ApiObject, { specs, rules }: StoredResource): boolean {
  return specs?.isComplete(specOf(object), rules) === true;
}

interface Succession extends Omit<Revision, "object"> {
  readonly resource: StoredResource;
  readonly context: RuleContext;
}

function validRevision(draft: Draft<ApiObject>, succession: Succession): ApiObject {
  return checkedRevision(settledRevision(draft, succession), succession);
}

function settledRevision(draft: Draft<ApiObject>, succession: Succession): ApiObject {
  const { previous, endpoint, resource } = succession;
  prepare(draft, succession);
  const next = settled(shareParts(draft, previous), resource, previous);
  return endpoint === "status" ? next : withGeneration(next, previous, resource);
}

function checkedRevision(object: ApiObject, succession: Succession): ApiObject {
  const { previous, endpoint, resource } = succession;
  const { rules } = resource;
  const found = collectFieldErrors((errors) => {
    validateMetadataUpdate(object.metadata, previous.metadata, { rules: metadataRules(resource), errors });
    if (endpoint !== "status") errors.append(newProblems(object, previous, rules));
    validateAt(object, succession, errors);
  });
  refuse(found, object, resource);
  return object;
}

/** What is wrong with the object, without what the kind tolerates because it was just so before. */
function newProblems(object: ApiObject, previous: ApiObject, rules: KindRules): readonly FieldError[] {
  const now = collectFieldErrors((errors) => rules.validate?.(object, errors));
  const isTolerated = (error: FieldError): boolean => rules.tolerates?.(error) === true;
  // Errors beyond those found may be ones that are not tolerated.
  if (now.isCut || !now.found.some(isTolerated)) return now.found;
  const before = collectFieldErrors((errors) => rules.validate?.(previous, errors));
  const known = new Set(before.found.map(fieldErrorText));
  return now.found.filter((error) => !isTolerated(error) || !known.has(fieldErrorText(error)));
}

function writtenPart(endpoint: Endpoint, resource: StoredResource): "main" | "status" | "all" {
  if (endpoint === "status") return "status";
  return endpoint === "main" && hasStatus(resource) ? "main" : "all";
}

/** By the rules of the endpoint. */
function prepare(draft: Draft<ApiObject>, { previous, endpoint, resource, context }: Succession): void {
  const { rules } = resource;
  if (endpoint === "main") rules.prepareUpdate?.(draft, previous, context);
  else if (endpoint === "status") {
    keepParts(draft, previous, rules.statusKeeps);
    rules.prepareStatus?.(draft, previous, context);
  } else endpoint.prepare(draft, previous, context);
}

/** The same for what it has become. */
function validateAt(
  next: ApiObject,
  { previous, endpoint, resource }: Succession,
  errors: FieldErrors,
): void {
  const { rules } = resource;
  if (endpoint === "main") rules.validateUpdate?.(next, previous, errors);
  else if (endpoint === "status") rules.validateStatus?.(next, previous, errors);
  else endpoint.validate(next, previous, errors);
}

/** The main endpoint cannot write status, the status endpoint nothing but status and metadata. */
function withOtherPart(
  object: ApiObject,
  previous: ApiObject,
  written: "main" | "status" | "all",
): ApiObject {
  if (written === "all") return object;
  const fields: Record<string, unknown> = { ...object };
  const old = previous as unknown as JsonObject;
  for (const key in fields) if (!isWrittenBy(written, key) && old[key] === undefined) delete fields[key];
  for (const key in old) {
    if (!isWrittenBy(written, key) && old[key] !== undefined) setOwn(fields, key, old[key]);
  }
  return fields as unknown as ApiObject;
}

function isWrittenBy(written: "main" | "status", key: string): boolean {
  return key === "metadata" || (key === "status") === (written === "status");
}

/** A copy that rules may change. Who owns which fields is no rule's business, and is half of a pod. */
function draftOf(object: ApiObject, copySpec: (spec: unknown) => unknown = cloneJson): Draft<ApiObject> {
  const draft: Record<string, unknown> = { ...object };
  for (const key of Object.keys(draft)) {
    if (key === "metadata") draft[key] = metadataDraft(object.metadata);
    else draft[key] = key === "spec" ? copySpec(draft[key]) : cloneJson(draft[key]);
  }
  return draft as unknown as Draft<ApiObject>;
}

/** A spec whose members may be replaced; they themselves are shared. */
function withOwnMembers(spec: unknown): unknown {
  return { ...(spec as JsonObject) };
}

function metadataDraft(metadata: ApiObject["metadata"]): JsonObject {
  const draft: Record<string, unknown> = { ...metadata };
  for (const key of Object.keys(draft)) {
    if (key !== "managedFields") draft[key] = cloneJson(draft[key]);
  }
  return draft;
}

/** In the order and form in which it is stored: rules append what they add. */
function settled(draft: ApiObject, resource: StoredResource, previous?: ApiObject): ApiObject {
  const known = previous as unknown as JsonObject | undefined;
  return normal(resource.schema, draft, known).value as unknown as ApiObject;
}

/** The same for a new object, with the spec that others have too. */
function settledNew(
  draft: Draft<ApiObject>,
  resource: StoredResource,
  { shared, known }: Pick<WriteContext, "shared" | "known">,
): ApiObject {
  const made = specOf(draft);
  const spec = shared?.findSettled(made);
  if (spec !== undefined)
    return normal(resource.schema, { ...draft, spec }, { spec }).value as unknown as ApiObject;
  const object = settled(draft, resource, known);
  shared?.settle(made, specOf(object));
  return object;
}

function specOf(object: ApiObject & { readonly spec?: unknown }): unknown {
  return object.spec;
}

/** Rules may rely on a name; that none was given is found by the rules for metadata. */
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
