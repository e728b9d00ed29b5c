/** A scheduler on plain maps as caches, with a client that answers bindings at once: only the scheduler's own work remains. */
import type { ApiObject, ObjectKey, ResourceType } from "../../src/api/api-object.ts";
import { Pod } from "../../src/api/generated/types/core-v1.ts";
import { silentLog } from "../../src/base/log/log.ts";
import type { Loop } from "../../src/base/loop/loop.ts";
import { createMetrics } from "../../src/base/metrics/prom-metrics.ts";
import type { Client } from "../../src/client/client.ts";
import type { CacheView } from "../../src/runtime/cache/cache-view.ts";
import type { ObjectChange } from "../../src/runtime/cache/object-change.ts";
import type { CacheReader } from "../../src/runtime/controller/controller.ts";
import type { RoutineParts } from "../../src/runtime/manager/routine.ts";

type Listener = (change: ObjectChange<ApiObject>) => void;

class PlainCache {
  readonly objects = new Map<string, ApiObject>();
  readonly listeners = new Set<Listener>();
  /** Index by namespace, built on first use. */
  #byNamespace: Map<string, ApiObject[]> | undefined;

  put(object: ApiObject): void {
    const key = keyOf(object.metadata);
    const before = this.objects.get(key);
    this.objects.set(key, object);
    this.#byNamespace = undefined;
    for (const listener of this.listeners) listener({ before, after: object });
  }

  view(): CacheView<ApiObject> {
    const { objects } = this;
    return {
      find: (key) => objects.get(keyOf(key)),
      list: () => [...objects.values()],
      select: () => {
        throw new Error("the scheduler selects no objects by labels");
      },
      walk: () => objects.values(),
      countIn: (namespace) => this.#inNamespace(namespace).length,
      ownedBy: () => [],
      uncontrolled: () => [],
      dependentsOf: () => [],
      indexed: (_, namespace) => this.#inNamespace(namespace),
      indexValues: () => [],
      size: objects.size,
    };
  }

  #inNamespace(namespace: string): readonly ApiObject[] {
    if (this.#byNamespace === undefined) {
      this.#byNamespace = new Map();
      for (const object of this.objects.values()) {
        const { namespace: own = "" } = object.metadata;
        this.#byNamespace.set(own, [...(this.#byNamespace.get(own) ?? []), object]);
      }
    }
    return this.#byNamespace.get(namespace) ?? [];
  }
}

function keyOf({ namespace = "", name = "" }: Partial<ObjectKey>): string {
  return `${namespace}/${name}`;
}

export class PlainCluster {
  readonly parts: RoutineParts;
  readonly #caches = new Map<string, PlainCache>();
  /** Called for each pod that is bound. */
  onBound: () => void = () => undefined;

  constructor(loop: Loop) {
    const cache = (<T extends ApiObject>(type: ResourceType<T>) =>
      this.#cache(type).view() as CacheView<T>) satisfies CacheReader;
    this.parts = {
      loop,
      log: silentLog,
      metrics: createMetrics(),
      client: this.#client(),
      clientAs: () => this.#client(),
      cache,
      subscribe: (type, listener) => {
        const { listeners } = this.#cache(type);
        listeners.add(listener as Listener);
        return () => listeners.delete(listener as Listener);
      },
      silenceMs: () => 0,
      hold: ({ plural }) => {
        throw new Error(`the scheduler names all its kinds beforehand, and not ${plural}`);
      },
      event: () => undefined,
    };
  }

  put(type: ResourceType, object: ApiObject): void {
    this.#cache(type).put(object);
  }

  #cache({ kind }: ResourceType): PlainCache {
    const found = this.#caches.get(kind) ?? new PlainCache();
    this.#caches.set(kind, found);
    return found;
  }

  /** A client that accepts bindings only. */
  #client(): Client {
    const create = (key: ObjectKey, body: unknown): Promise<unknown> => {
      const { target } = body as { readonly target: { readonly name: string } };
      const pod = this.#cache(Pod).objects.get(keyOf(key)) as Pod | undefined;
      if (pod === undefined) return Promise.reject(new Error(`no pod ${keyOf(key)}`));
      this.put(Pod, { ...pod, spec: { ...pod.spec, nodeName: target.name } } as Pod);
      this.onBound();
      return Promise.resolve({});
    };
    const resource = { subresource: () => ({ create }), patch: () => Promise.resolve({}) };
    return (() => resource) as Partial<Client> as Client;
  }
}
