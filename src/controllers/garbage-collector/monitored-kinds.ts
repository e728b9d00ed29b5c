/** Feeds the graph with the objects of every deletable resource in discovery. When a resource disappears, its objects leave the graph. */
import type { RoutineParts } from "../../runtime/manager/routine.ts";
import { orderOfVersions } from "../../runtime/refs/resource-version.ts";
import type { ServedResource, ServedResources } from "../served-resources.ts";
import type { OwnerGraph } from "./owner-graph.ts";

/** Events are numerous, own no objects and expire by themselves. */
const IGNORED: readonly string[] = ["events.", "events.events.k8s.io"];
const NEEDED_VERBS = ["delete", "list", "watch"];

interface Followed {
  readonly resource: ServedResource;
  readonly seenVersion: () => string | undefined;
  /** Resolves once the graph has all objects of the resource. */
  readonly synced: (signal: AbortSignal) => Promise<void>;
  readonly leave: () => void;
}

export class MonitoredKinds {
  readonly #hold: RoutineParts["hold"];
  readonly #graph: OwnerGraph;
  readonly #followed = new Map<string, Followed>();

  constructor(hold: RoutineParts["hold"], graph: OwnerGraph) {
    this.#hold = hold;
    this.#graph = graph;
  }

  /** Returns true if a resource was added. Resources of a failing group version stay. */
  update({ preferred, failures }: ServedResources): boolean {
    const wanted = new Map(preferred.filter(isCollected).map((each) => [nameOf(each), each]));
    for (const [name, { resource, leave }] of this.#followed) {
      if (wanted.has(name) || failures.has(resource.apiVersion)) continue;
      this.#followed.delete(name);
      leave();
    }
    const added = [...wanted].filter(([name]) => !this.#followed.has(name));
    for (const [name, resource] of added) this.#followed.set(name, this.#follow(resource));
    return added.length > 0;
  }

  /** Resources whose cache may lag behind this resource version. */
  behind(version: string): readonly ServedResource[] {
    const followed = [...this.#followed.values()];
    return followed
      .filter(({ seenVersion }) => !hasReached(seenVersion(), version))
      .map(({ resource }) => resource);
  }

  async synced(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#followed.values()].map((each) => each.synced(signal)));
  }

  leave(): void {
    for (const { leave } of this.#followed.values()) leave();
    this.#followed.clear();
  }

  #follow(resource: ServedResource): Followed {
    const graph = this.#graph;
    const { cache, release } = this.#hold(resource);
    for (const object of cache.list()) graph.put(resource, object);
    const unsubscribe = cache.subscribe(({ before, after }) => {
      if (after !== undefined) graph.put(resource, after);
      else if (before !== undefined) graph.remove(before);
    });
    const leave = (): void => {
      unsubscribe();
      for (const object of cache.list()) graph.forget(object);
      release();
    };
    const seenVersion = (): string | undefined => cache.resourceVersion;
    return { resource, leave, seenVersion, synced: (signal) => cache.synced(signal) };
  }
}

function nameOf({ apiVersion, plural }: ServedResource): string {
  return `${apiVersion} ${plural}`;
}

function hasReached(seen: string | undefined, version: string): boolean {
  if (seen === undefined) return false;
  const order = orderOfVersions(seen, version);
  return order === "same" || order === "newer";
}

function isCollected({ plural, group, verbs }: ServedResource): boolean {
  return !IGNORED.includes(`${plural}.${group}`) && NEEDED_VERBS.every((verb) => verbs.includes(verb));
}
