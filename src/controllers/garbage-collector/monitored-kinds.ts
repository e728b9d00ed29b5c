/** Feeds the graph with the objects of every deletable resource in discovery. When a resource disappears, its objects leave the graph. */
import type { ApiObject } from "../../api/api-object.ts";
import { inSlices } from "../../base/loop/in-slices.ts";
import { runInTurns } from "../../base/loop/run-in-turns.ts";
import type { YieldingWork } from "../../base/loop/yielding-work.ts";
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
  /** Ends the subscription. The graph keeps the objects. */
  readonly leave: () => void;
  /** Drops the objects from the graph, in slices. */
  readonly forget: () => void;
}

export class MonitoredKinds {
  readonly #parts: Pick<RoutineParts, "hold" | "loop">;
  readonly #graph: OwnerGraph;
  readonly #followed = new Map<string, Followed>();

  constructor(parts: Pick<RoutineParts, "hold" | "loop">, graph: OwnerGraph) {
    this.#parts = parts;
    this.#graph = graph;
  }

  /** Returns true if a resource was added. Resources of a failing group version stay. */
  update({ preferred, failures }: ServedResources): boolean {
    const wanted = new Map(preferred.filter(isCollected).map((each) => [nameOf(each), each]));
    for (const [name, { resource, leave, forget }] of this.#followed) {
      if (wanted.has(name) || failures.has(resource.apiVersion)) continue;
      this.#followed.delete(name);
      leave();
      forget();
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
    const { cache, release } = this.#parts.hold(resource);
    let isFollowed = true;
    const unsubscribe = cache.subscribe(({ before, after }) => {
      if (after !== undefined) graph.put(resource, after);
      else if (before !== undefined) graph.remove(before);
    });
    const put = (object: ApiObject): void => {
      if (isFollowed) graph.put(resource, object);
    };
    const fed = this.#inTurns(inSlices(cache.walk(), put));
    const leave = (): void => {
      isFollowed = false;
      unsubscribe();
      release();
    };
    const forget = (): void => {
      void this.#inTurns(inSlices(cache.walk(), (object) => graph.forget(resource, object)));
    };
    const seenVersion = (): string | undefined => cache.resourceVersion;
    const synced = async (signal: AbortSignal): Promise<void> => {
      await cache.synced(signal);
      await fed;
    };
    return { resource, leave, forget, seenVersion, synced };
  }

  async #inTurns(work: YieldingWork<void>): Promise<void> {
    await runInTurns(work, this.#parts.loop, "loop");
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
