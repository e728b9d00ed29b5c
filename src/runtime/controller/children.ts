/**
 * Makes the children of an object equal to the declared ones: applies each, then deletes those no longer declared.
 * Children that another object controls are never changed. Kinds that the controller does not own are refused: their
 * children would never be watched or deleted.
 */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { stringifyJson } from "../../api/json/json-text.ts";
import type { Client, ResourceClient } from "../../client/client.ts";
import { controllerOf, groupOf, ownerReferenceTo } from "../refs/owner-reference.ts";
import { RecentMap } from "../refs/recent-map.ts";
import { isApplied } from "./applied-fields.ts";
import type { ChildManifest, DeclaredChild } from "./child.ts";
import { TerminalError } from "./controller.ts";
import { kindId, type KnownKinds } from "./kinds.ts";
import { hasApplied, onlyFields, withoutFields } from "./left-fields.ts";

/** Upper bound of concurrent requests for one set of children. */
const PARALLEL_MAX = 16;

export interface ChildrenParts {
  readonly owner: ApiObject;
  /** Kinds whose undeclared children are deleted. */
  readonly owns: readonly ResourceType[];
  readonly kinds: KnownKinds;
  readonly client: Client;
  readonly manager: string;
  readonly applied: AppliedManifests;
}

interface Child {
  readonly type: ResourceType;
  readonly manifest: JsonObject & {
    readonly metadata: { readonly name: string; readonly namespace?: string };
  };
  /** Paths of the fields that are set only when the child is created. */
  readonly leave: readonly string[];
}

/** Returns the children in the order declared. When one cannot be applied, nothing is deleted. */
export async function applyChildren(
  parts: ChildrenParts,
  declared: readonly (ChildManifest | DeclaredChild)[],
): Promise<readonly ApiObject[]> {
  const children = await Promise.all(declared.map((each) => childOf(parts, each)));
  refuseDuplicates(children);
  const applied = await inBatches(children, (child) => applyChild(parts, child));
  const kept = new Set(children.map(placeOf));
  const undeclared = parts.owns.flatMap((type) =>
    parts.kinds
      .cache(type)
      .ownedBy(parts.owner)
      .filter((object) => isUndeclared(object, type, kept))
      .map((object) => ({ type, object })),
  );
  await inBatches(undeclared, ({ type, object }) => remove(parts.client(type), object));
  return applied;
}

async function childOf(parts: ChildrenParts, child: ChildManifest | DeclaredChild): Promise<Child> {
  const { manifest, leave = [] } = isDeclared(child) ? child : { manifest: child };
  const type = await typeOf(parts, manifest);
  return { type, leave, manifest: { ...manifest, metadata: metadataOf(parts.owner, type, manifest) } };
}

async function typeOf(parts: ChildrenParts, manifest: ChildManifest): Promise<ResourceType> {
  const { apiVersion, kind, metadata } = manifest;
  if (!isOwned(parts, manifest))
    throw new TerminalError(
      `${kind} ${metadata?.name ?? ""} is declared as a child, but ${kindId(manifest)} is not in \`owns\` of ` +
        `the controller ${parts.manager}: add it, so that its children are watched and deleted`,
    );
  const type = parts.kinds.findType(apiVersion, kind) ?? (await parts.client.findType(apiVersion, kind));
  if (type === undefined) throw new TerminalError(`the kind ${kindId(manifest)} of a child is not served`);
  return type;
}

function metadataOf(
  owner: ApiObject,
  { kind, namespaced }: ResourceType,
  manifest: ChildManifest,
): Child["manifest"]["metadata"] {
  const { name = "", namespace, ownerReferences = [], ...rest } = manifest.metadata ?? {};
  if (name === "") throw new TerminalError(`a child of kind ${kind} has no name`);
  const home = namespaced ? (namespace ?? owner.metadata.namespace) : undefined;
  if (owner.metadata.namespace !== undefined && home !== owner.metadata.namespace)
    throw new TerminalError(`${kind} ${name} cannot be owned from another namespace`);
  const others = ownerReferences.filter(({ uid }) => uid !== owner.metadata.uid);
  const metadata = { ...rest, name, ownerReferences: [...others, ownerReferenceTo(owner)] };
  return home === undefined ? metadata : { ...metadata, namespace: home };
}

function isDeclared(child: ChildManifest | DeclaredChild): child is DeclaredChild {
  return !("apiVersion" in child);
}

/** The version may differ from the owned one: both name the same objects. */
function isOwned({ owns }: ChildrenParts, { apiVersion, kind }: ChildManifest): boolean {
  return owns.some((type) => type.kind === kind && groupOf(type.apiVersion) === groupOf(apiVersion));
}

function refuseDuplicates(children: readonly Child[]): void {
  const seen = new Set<string>();
  for (const child of children) {
    const place = placeOf(child);
    if (seen.has(place)) throw new TerminalError(`${place} is declared twice`);
    seen.add(place);
  }
}

function placeOf({ type, manifest: { metadata } }: Child): string {
  return placeText(type, metadata.namespace ?? "", metadata.name);
}

/** The key has no version, so that the same child may be declared in another version. */
function placeText({ apiVersion, kind }: ResourceType, namespace: string, name: string): string {
  return `${kind}.${groupOf(apiVersion)} ${namespace}/${name}`;
}

async function applyChild(parts: ChildrenParts, child: Child): Promise<ApiObject> {
  const { type, leave } = child;
  const manifest = withoutFields(child.manifest, leave);
  const live = parts.kinds.findCache(type)?.find(manifest.metadata);
  if (live !== undefined) {
    refuseForeign(parts.owner, live);
    // A child that is being deleted cannot be kept. Its deletion triggers another pass, which creates it again.
    if (live.metadata.deletionTimestamp !== undefined) return live;
    if (isApplied(live, manifest, parts.manager) || parts.applied.isAsApplied(live, manifest)) return live;
  }
  const client = parts.client(type);
  if (leave.length > 0) await handOver(parts, child, live ?? (await client.apply(child.manifest, FORCED)));
  const applied = await client.apply(manifest, FORCED);
  parts.applied.note(applied, manifest);
  return applied;
}

const FORCED = { force: true } as const;

/**
 * Gives fields that the controller has applied to a second field manager. Without another owner, the server would
 * reset them when the controller no longer applies them.
 */
async function handOver(
  { client, manager }: ChildrenParts,
  { type, leave }: Child,
  live: ApiObject,
): Promise<void> {
  // Caches of network clients drop managed fields.
  const object = live.metadata.managedFields === undefined ? await client(type).get(live) : live;
  if (!hasApplied(object, manager, leave)) return;
  const { name, namespace, uid } = object.metadata;
  const metadata = { name, uid, ...(namespace !== undefined && { namespace }) };
  try {
    await client(type).apply(
      { ...onlyFields(object, leave), metadata },
      { fieldManager: `${manager}-initial` },
    );
  } catch (error) {
    // Another writer has changed the field and owns it now.
    if (!isApiError(error, "Conflict")) throw error;
  }
}

function refuseForeign(owner: ApiObject, live: ApiObject): void {
  const controller = controllerOf(live);
  if (controller === undefined || controller.uid === owner.metadata.uid) return;
  const { namespace = "", name = "" } = live.metadata;
  throw new Error(`${live.kind} ${namespace}/${name} is controlled by ${controller.kind} ${controller.name}`);
}

function isUndeclared({ metadata }: ApiObject, type: ResourceType, kept: ReadonlySet<string>): boolean {
  const { namespace = "", name = "", deletionTimestamp } = metadata;
  return deletionTimestamp === undefined && !kept.has(placeText(type, namespace, name));
}

async function remove(client: ResourceClient<ApiObject>, object: ApiObject): Promise<void> {
  try {
    await client.delete(object, { propagationPolicy: "Background" });
  } catch (error) {
    // The child is gone, or another object has its name.
    if (!isApiError(error, "NotFound") && !isApiError(error, "Conflict")) throw error;
  }
}

/** Tries all items. Settles once all have ended; rejects with the first error. */
async function inBatches<T, R>(items: readonly T[], task: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  const errors: unknown[] = [];
  for (let from = 0; from < items.length; from += PARALLEL_MAX) {
    for (const outcome of await Promise.allSettled(items.slice(from, from + PARALLEL_MAX).map(task))) {
      if (outcome.status === "fulfilled") results.push(outcome.value);
      else errors.push(outcome.reason);
    }
  }
  if (errors.length > 0) throw errors[0];
  return results;
}

/** Upper bound of remembered manifests. The least recently used one is dropped, which costs one request later. */
const REMEMBERED_MAX = 10_000;

/** Remembers the last manifest applied to each object, for caches that drop managed fields. */
export class AppliedManifests {
  readonly #byUid = new RecentMap<{ readonly text: string; readonly resourceVersion: string | undefined }>(
    REMEMBERED_MAX,
  );

  note({ metadata: { uid = "", resourceVersion } }: ApiObject, manifest: JsonObject): void {
    this.#byUid.set(uid, { text: stringifyJson(manifest), resourceVersion });
  }

  /** True when the object has not changed since exactly this manifest was applied to it. */
  isAsApplied({ metadata: { uid = "", resourceVersion } }: ApiObject, manifest: JsonObject): boolean {
    const known = this.#byUid.get(uid);
    return known?.resourceVersion === resourceVersion && known?.text === stringifyJson(manifest);
  }
}
