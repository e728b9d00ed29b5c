/**
 * Makes an object's children be exactly what is declared: server-side apply of each, then deletion of those that are no longer declared.
 * Children of others are never taken over.
 */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import type { JsonObject } from "../../api/json/json-object.ts";
import { stringifyJson } from "../../api/json/json-text.ts";
import type { Client, ResourceClient } from "../../client/client.ts";
import { controllerOf, groupOf, ownerReferenceTo } from "../refs/owner-reference.ts";
import { RecentMap } from "../refs/recent-map.ts";
import { carries } from "./applied-fields.ts";
import { TerminalError, type ChildManifest } from "./controller.ts";
import { kindId, type KnownKinds } from "./kinds.ts";

/** Requests of one set of children that are under way at once. */
const PARALLEL_MAX = 16;

export interface ChildrenParts {
  readonly owner: ApiObject;
  /** Kinds of which children are deleted when they are not declared. */
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

/** In the order declared. Nothing is deleted when anything could not be applied. */
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

/** Without version: the same child may be declared in another one. */
function placeText({ apiVersion, kind }: ResourceType, namespace: string, name: string): string {
  return `${kind}.${groupOf(apiVersion)} ${namespace}/${name}`;
}

async function applyChild(parts: ChildrenParts, { type, manifest }: Child): Promise<ApiObject> {
  const live = parts.kinds.findCache(type)?.find(manifest.metadata);
  if (live !== undefined) {
    refuseForeign(parts.owner, live);
    // What is going cannot be kept: when it is gone, that is a change, and it is made anew.
    if (live.metadata.deletionTimestamp !== undefined) return live;
    if (carries(live, manifest, parts.manager) || parts.applied.isAsApplied(live, manifest)) return live;
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
    // Gone, or another object of its name is there.
    if (!isApiError(error, "NotFound") && !isApiError(error, "Conflict")) throw error;
  }
}

/** All are tried and all have ended when it settles; then the first failure counts. */
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

/** Beyond this the longest unused is forgotten, and applied once more when it comes again. */
const REMEMBERED_MAX = 10_000;

/** What was applied last, for caches that do not keep who owns which field. */
export class AppliedManifests {
  readonly #byUid = new RecentMap<{ readonly text: string; readonly resourceVersion: string | undefined }>(
    REMEMBERED_MAX,
  );

  note({ metadata: { uid = "", resourceVersion } }: ApiObject, manifest: JsonObject): void {
    this.#byUid.set(uid, { text: stringifyJson(manifest), resourceVersion });
  }

  /** The object has not changed since this very manifest was applied to it. */
  isAsApplied({ metadata: { uid = "", resourceVersion } }: ApiObject, manifest: JsonObject): boolean {
    const known = this.#byUid.get(uid);
    return known?.resourceVersion === resourceVersion && known?.text === stringifyJson(manifest);
  }
}
