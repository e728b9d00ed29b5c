/**
 * Makes the children of an object equal to the declared ones: applies each, then deletes those no longer declared.
 * Children that another object controls are never changed.
 */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { stringifyJson } from "../../api/json/json-text.ts";
import type { Client, ResourceClient } from "../../client/client.ts";
import { controllerOf, groupOf, ownerReferenceTo } from "../refs/owner-reference.ts";
import { RecentMap } from "../refs/recent-map.ts";
import { isApplied } from "./applied-fields.ts";
import { TerminalError, type ChildManifest } from "./controller.ts";
import { kindId, type KnownKinds } from "./kinds.ts";

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
}

/** Returns the children in the order declared. When one cannot be applied, nothing is deleted. */
export async function applyChildren(
  parts: ChildrenParts,
  declared: readonly ChildManifest[],
): Promise<readonly ApiObject[]> {
  const children = await Promise.all(declared.map((manifest) => childOf(parts, manifest)));
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

async function childOf({ owner, kinds, client }: ChildrenParts, declared: ChildManifest): Promise<Child> {
  const { apiVersion, kind } = declared;
  const type = kinds.findType(apiVersion, kind) ?? (await client.findType(apiVersion, kind));
  if (type === undefined) throw new Error(`the kind ${kindId(declared)} of a child is not served`);
  const { name, namespace, ownerReferences = [], ...rest } = declared.metadata ?? {};
  if (name === undefined || name === "") throw new TerminalError(`a child of kind ${kind} has no name`);
  const home = type.namespaced ? (namespace ?? owner.metadata.namespace) : undefined;
  if (owner.metadata.namespace !== undefined && home !== owner.metadata.namespace)
    throw new TerminalError(`${kind} ${name} cannot be owned from another namespace`);
  const others = ownerReferences.filter(({ uid }) => uid !== owner.metadata.uid);
  const metadata = {
    ...rest,
    name,
    ...(home !== undefined && { namespace: home }),
    ownerReferences: [...others, ownerReferenceTo(owner)],
  };
  return { type, manifest: { ...declared, metadata } };
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

async function applyChild(parts: ChildrenParts, { type, manifest }: Child): Promise<ApiObject> {
  const live = parts.kinds.findCache(type)?.find(manifest.metadata);
  if (live !== undefined) {
    refuseForeign(parts.owner, live);
    // A child that is being deleted cannot be kept. Its deletion triggers another pass, which creates it again.
    if (live.metadata.deletionTimestamp !== undefined) return live;
    if (isApplied(live, manifest, parts.manager) || parts.applied.isAsApplied(live, manifest)) return live;
  }
  const applied = await parts.client(type).apply(manifest, { force: true });
  parts.applied.note(applied, manifest);
  return applied;
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
