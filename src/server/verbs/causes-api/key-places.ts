/** Finds the object that a key of the store names, and the resource of a kind. */
import { isStored } from "../../objects/registry.ts";
import type { Registry, StoredResource } from "../../objects/registry.ts";

export interface KeyPlace {
  readonly resource: StoredResource;
  readonly namespace: string;
  readonly name: string;
}

const ROOT = "/registry/";

/** Resources by storage prefix and by kind, made once for each state of the registry. */
export class KeyPlaces {
  readonly #registry: Registry;
  #of: Registry["groupVersions"] | undefined;
  #byPrefix = new Map<string, StoredResource>();
  #byKind = new Map<string, StoredResource>();

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** Undefined for data that is no object, such as allocated ports, and for kinds that are not served. */
  findPlace(key: string): KeyPlace | undefined {
    this.#refresh();
    const path = key.slice(ROOT.length);
    // A prefix has one or two parts: `pods`, `services/specs`, `example.com/widgets`.
    const [first, second] = [path.indexOf("/"), path.indexOf("/", path.indexOf("/") + 1)];
    const end = [first, second].find((each) => each > 0 && this.#byPrefix.has(path.slice(0, each)));
    const resource = end === undefined ? undefined : this.#byPrefix.get(path.slice(0, end));
    if (end === undefined || resource === undefined) return undefined;
    const rest = path.slice(end + 1);
    if (!resource.facts.namespaced) return { resource, namespace: "", name: rest };
    const slash = rest.indexOf("/");
    return { resource, namespace: rest.slice(0, slash), name: rest.slice(slash + 1) };
  }

  findKind(group: string, kind: string): StoredResource | undefined {
    this.#refresh();
    return this.#byKind.get(`${group} ${kind}`);
  }

  /** The first version of a resource in discovery order is the preferred one. */
  #refresh(): void {
    const { groupVersions } = this.#registry;
    if (groupVersions === this.#of) return;
    this.#of = groupVersions;
    this.#byPrefix = new Map();
    this.#byKind = new Map();
    for (const { resources } of groupVersions) {
      for (const { group, version, name, kind } of resources) {
        const resource = this.#registry.find({ group, version, resource: name });
        if (resource === undefined || !isStored(resource)) continue;
        const { prefix } = resource.storage;
        if (!this.#byPrefix.has(prefix)) this.#byPrefix.set(prefix, resource);
        if (!this.#byKind.has(`${group} ${kind}`)) this.#byKind.set(`${group} ${kind}`, resource);
      }
    }
  }
}
