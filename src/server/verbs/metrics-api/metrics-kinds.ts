/** Adds the kinds of `metrics.k8s.io` to the custom kinds, for lookup, discovery and OpenAPI. */
import type { JSONSchemaProps } from "../../../api/generated/types/apiextensions-v1.ts";
import type { GroupVersionFacts, ResourceFacts } from "../../../api/schema/resource-facts.ts";
import type { CustomResources, Resource } from "../../objects/registry.ts";
import { METRICS_VERSION, metricsGroupVersion, metricsResources } from "./metrics-facts.ts";
import { totalUsage } from "./metrics-objects.ts";

type Place = Parameters<CustomResources["find"]>[0];

export class MetricsKinds implements CustomResources {
  readonly #others: CustomResources;
  readonly #resources = metricsResources(totalUsage);
  readonly #own = metricsGroupVersion(this.#resources);
  #all: { readonly others: readonly GroupVersionFacts[]; readonly list: readonly GroupVersionFacts[] };

  constructor(others: CustomResources) {
    this.#others = others;
    this.#all = { others: [], list: [this.#own] };
  }

  get local(): readonly GroupVersionFacts[] {
    return [this.#own];
  }

  get groupVersions(): readonly GroupVersionFacts[] {
    const others = this.#others.groupVersions;
    if (others !== this.#all.others) {
      const kept = others.filter((each) => `${each.group}/${each.version}` !== METRICS_VERSION);
      this.#all = { others, list: [...kept, this.#own] };
    }
    return this.#all.list;
  }

  find(place: Place): Resource | undefined {
    const isOwn = `${place.group}/${place.version}` === METRICS_VERSION;
    return isOwn
      ? this.#resources.find(({ facts }) => facts.name === place.resource)
      : this.#others.find(place);
  }

  findProblem(place: Place): string | undefined {
    return this.#others.findProblem(place);
  }

  catchUp(): Promise<void> {
    return this.#others.catchUp();
  }

  findOpenApi(facts: ResourceFacts): JSONSchemaProps | undefined {
    const own = this.#resources.find((resource) => resource.facts === facts);
    return own === undefined ? this.#others.findOpenApi(facts) : own.openApi;
  }

  editionOf(facts: ResourceFacts): string {
    return facts.group === this.#own.group ? METRICS_VERSION : this.#others.editionOf(facts);
  }
}
