/** Counts the objects that lists visit and return, by the index that found them. */
import type { Counter, Metrics } from "../../../base/metrics/metrics.ts";
import type { StoredResource } from "../../objects/registry.ts";

export interface ListCost {
  /** Index that found the objects: `label`, `field`, or empty for a scan. */
  readonly index: string;
  readonly visited: number;
  readonly returned: number;
}

export class ListCounts {
  readonly #lists: Counter;
  readonly #visited: Counter;
  readonly #returned: Counter;

  constructor(metrics: Metrics) {
    const labels = ["group", "resource", "index"];
    this.#lists = metrics.counter({
      name: "apiserver_cache_list_total",
      help: "Number of LIST requests, by the kind of index that found the objects.",
      labels,
    });
    this.#visited = metrics.counter({
      name: "apiserver_cache_list_fetched_objects_total",
      help: "Number of objects that LIST requests visited, by the kind of index that found them.",
      labels,
    });
    this.#returned = metrics.counter({
      name: "apiserver_cache_list_returned_objects_total",
      help: "Number of objects that LIST requests returned.",
      labels: ["group", "resource"],
    });
  }

  add({ facts }: StoredResource, { index, visited, returned }: ListCost): void {
    const { group, name: resource } = facts;
    this.#lists.add(1, { group, resource, index });
    this.#visited.add(visited, { group, resource, index });
    this.#returned.add(returned, { group, resource });
  }
}
