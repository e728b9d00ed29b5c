/** Registers an APIService for each served version of a group of custom resources, and restores deleted ones. */
import { isApiError } from "../../../api/errors/api-error.ts";
import type { APIService } from "../../../api/generated/types/apiregistration-v1.ts";
import { jsonEqual } from "../../../api/patch/json-equal.ts";
import { apiVersionOf } from "../../../api/schema/resource-facts.ts";
import { prefixEnd } from "../../../store/store.ts";
import { CUSTOM_ORDER, DEFINITIONS } from "../../custom/custom-kinds.ts";
import { findOutline } from "../../custom/custom-outline.ts";
import type { Registry, StoredResource } from "../../objects/registry.ts";
import { requireStored } from "../../objects/registry.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import { prefixOf } from "../../objects/versions.ts";
import type { WriteParts } from "../../verbs/writing.ts";
import { ServerWriter } from "../server-writer.ts";

interface ServiceParts extends WriteParts {
  readonly registry: Registry;
}

const LABEL = "kube-aggregator.kubernetes.io/automanaged";

export class CustomApiServices {
  /** Prefix of all APIServices in the store. */
  readonly prefix: string;
  readonly #verbParts: ServiceParts;
  readonly #resource: StoredResource;
  readonly #writer: ServerWriter;
  readonly #builtIn: ReadonlySet<string>;

  constructor(verbParts: ServiceParts) {
    this.#verbParts = verbParts;
    this.#resource = requireStored(verbParts.registry, "apiregistration.k8s.io", "apiservices");
    this.#writer = new ServerWriter(verbParts);
    this.#builtIn = new Set(verbParts.registry.localVersions.map(apiVersionOf));
    this.prefix = prefixOf(this.#resource, "");
  }

  /** The group of an APIService, from its key; `undefined` when the group does not come from definitions. */
  groupOf(key: string): string | undefined {
    const name = key.slice(this.prefix.length);
    const dot = name.indexOf(".");
    const group = name.slice(dot + 1);
    return group === "" || this.#builtIn.has(`${group}/${name.slice(0, dot)}`) ? undefined : group;
  }

  /** Registers the served versions of the group and unregisters the others. */
  async keep(group: string): Promise<void> {
    const versions = this.#servedVersions(group);
    for (const version of versions) await this.#put(version, group);
    const { accepted } = this.#verbParts.store;
    for (const entry of accepted.range(this.prefix, prefixEnd(this.prefix))) {
      if (!entry.key.endsWith(`.${group}`)) continue;
      const { metadata, spec } = StoredObject.of(entry).object as APIService;
      const isOurs = metadata.labels?.[LABEL] === "true" && spec.group === group;
      if (isOurs && !versions.has(spec.version ?? "")) await this.#remove(metadata.name);
    }
  }

  #servedVersions(group: string): ReadonlySet<string> {
    const versions = new Set<string>();
    for (const entry of this.#verbParts.store.accepted.range(DEFINITIONS, prefixEnd(DEFINITIONS))) {
      if (!entry.key.endsWith(`.${group}`)) continue;
      const outline = findOutline(entry);
      if (outline?.group !== group || !outline.isEstablished) continue;
      for (const { name, isServed } of outline.versions) {
        if (isServed && !this.#builtIn.has(`${group}/${name}`)) versions.add(name);
      }
    }
    return versions;
  }

  async #put(version: string, group: string): Promise<void> {
    const [groupPriorityMinimum, versionPriority] = CUSTOM_ORDER;
    const spec = { group, version, groupPriorityMinimum, versionPriority };
    const place = { resource: this.#resource, namespace: "", name: `${version}.${group}` };
    const live = this.#writer.find(place) as APIService | undefined;
    if (live === undefined) {
      const metadata = { name: place.name, labels: { [LABEL]: "true" } };
      const { apiVersion, facts } = this.#resource;
      await this.#writer.create(place, { apiVersion, kind: facts.kind, metadata, spec });
      return;
    }
    const isOurs = live.metadata.labels?.[LABEL] === "true";
    if (!isOurs || live.metadata.deletionTimestamp !== undefined || jsonEqual(live.spec, spec)) return;
    await this.#writer.update(place, { ...live, spec }, "");
  }

  async #remove(name: string): Promise<void> {
    try {
      await this.#writer.remove({ resource: this.#resource, namespace: "", name });
    } catch (error) {
      if (!isApiError(error, "NotFound")) throw error;
    }
  }
}
