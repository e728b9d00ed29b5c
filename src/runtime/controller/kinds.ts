/** The kinds that a controller or routine names, and their caches. */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import type { CacheSet } from "../cache/cache-set.ts";
import type { Cache } from "../cache/cache.ts";
import type { CacheReader, ControllerDefinition, IndexDefinition } from "./controller.ts";

export function kindId({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): string {
  return `${apiVersion}/${kind}`;
}

/** The kinds in `for`, `owns`, `watches` and `reads`, without duplicates. */
export function kindsOf(definition: ControllerDefinition<ApiObject>): readonly ResourceType[] {
  const { for: own, owns = [], watches = [], reads = [] } = definition;
  return distinctKinds([own, ...owns, ...watches.map(({ type }) => type), ...reads]);
}

function distinctKinds(types: readonly ResourceType[]): readonly ResourceType[] {
  return [...new Map(types.map((type) => [kindId(type), type])).values()];
}

export interface KnownKindsOptions {
  /** The controller or routine that names the kinds, for messages. */
  readonly owner: { readonly role: "controller" | "routine"; readonly name: string };
  readonly types: readonly ResourceType[];
  readonly caches: CacheSet;
  /** Namespace whose objects are cached; cluster-scoped kinds ignore it. Default: all namespaces. */
  readonly namespace?: string | undefined;
}

export class KnownKinds {
  readonly caches: readonly Cache<ApiObject>[];
  readonly #owner: string;
  /** Namespace whose objects are cached; undefined: all. */
  readonly namespace: string | undefined;
  readonly #byId = new Map<string, { readonly type: ResourceType; readonly cache: Cache<ApiObject> }>();

  constructor({ owner, types, caches, namespace }: KnownKindsOptions) {
    this.#owner = `the ${owner.role} ${owner.name}`;
    this.namespace = namespace;
    for (const type of types) {
      const reader = owner.name;
      const scope = type.namespaced && namespace !== undefined ? { reader, namespace } : { reader };
      this.#byId.set(kindId(type), { type, cache: caches.use(type, scope) });
    }
    this.caches = [...this.#byId.values()].map(({ cache }) => cache);
  }

  /** Resolves when all caches have synced. Rejects with the signal's reason. */
  async synced(signal: AbortSignal): Promise<void> {
    for (const cache of this.caches) await cache.synced(signal);
  }

  findType(apiVersion: string, kind: string): ResourceType | undefined {
    return this.#byId.get(kindId({ apiVersion, kind }))?.type;
  }

  /** The cache that receives changes of this object; undefined when none does. */
  findCacheOf(type: ResourceType, { metadata }: ApiObject): Cache<ApiObject> | undefined {
    return this.isCached(type, metadata.namespace) ? this.findCache(type) : undefined;
  }

  /** True when a cache receives changes of objects of the kind in this namespace. */
  isCached(type: ResourceType, namespace: string | undefined): boolean {
    const isHeld = !type.namespaced || this.namespace === undefined || namespace === this.namespace;
    return isHeld && this.#byId.has(kindId(type));
  }

  findCache(type: ResourceType): Cache<ApiObject> | undefined {
    return this.#byId.get(kindId(type))?.cache;
  }

  /** Throws for a kind that the definition does not name: its cache would never be filled. */
  cache<T extends ApiObject>(type: ResourceType<T>): Cache<T> {
    const cache = this.findCache(type);
    // Safe: a cache of this id holds objects of this kind only.
    if (cache !== undefined) return cache as unknown as Cache<T>;
    throw new Error(
      `${this.#owner} reads ${kindId(type)}, which its definition names neither in for, owns, watches nor reads`,
    );
  }

  readonly read: CacheReader = (type) => this.cache(type);

  addIndexes(indexes: readonly IndexDefinition[]): void {
    for (const { type, name, valuesOf } of indexes) this.cache(type).addIndex(name, valuesOf);
  }
}
