/** What the servers of other APIs say that they serve, as last heard: clients are told of it with everything else. */
import { isJsonObject } from "../../api/json-object.ts";
import type { JsonObject } from "../../api/json-object.ts";
import type { RemoteSpec } from "../openapi/remote-spec.ts";
import type { RemoteApi, RemoteApis } from "./remote-apis.ts";

/** A version of a group that another server serves. */
export interface RemoteVersion {
  readonly group: string;
  readonly version: string;
  readonly order: readonly [group: number, version: number];
  /** As members of the aggregated form. */
  readonly remote: readonly JsonObject[];
  /** Whether its server was there when it was last asked. */
  readonly freshness: "Current" | "Stale";
  /** Of its schemas, where it has any: `apis/GROUP/VERSION` → a path with a hash. */
  readonly schemas: ReadonlyMap<string, string>;
  /** In the older version of OpenAPI, where it says anything in that. */
  readonly spec: RemoteSpec | undefined;
}

/** What was heard from one server. */
export interface Heard {
  readonly resources: readonly JsonObject[];
  readonly schemas: ReadonlyMap<string, string>;
  readonly spec?: HeardSpec;
}

export interface HeardSpec {
  /** By which the server tells whether it still says the same. */
  readonly etag: string;
  readonly value: RemoteSpec | undefined;
}

const NOTHING: Heard = { resources: [], schemas: new Map() };

export class RemoteDiscovery {
  readonly #apis: RemoteApis;
  /** By the name of the APIService; forgotten with it. */
  readonly #heard = new Map<string, Heard>();
  #made: readonly { readonly api: RemoteApi; readonly heard: Heard; readonly version: RemoteVersion }[] = [];
  #versions: readonly RemoteVersion[] = [];

  constructor(apis: RemoteApis) {
    this.#apis = apis;
  }

  hear(name: string, heard: Heard): void {
    this.#heard.set(name, heard);
  }

  find(name: string): Heard | undefined {
    return this.#heard.get(name);
  }

  forget(name: string): void {
    this.#heard.delete(name);
  }

  /** The same list as long as nothing changes in it. */
  get versions(): readonly RemoteVersion[] {
    const apis = this.#apis.all();
    if (apis.length === 0 && this.#made.length === 0) return this.#versions;
    const known = new Map(this.#made.map((made) => [made.api, made]));
    const next = apis.map((api) => {
      const heard = this.#heard.get(api.name) ?? NOTHING;
      const before = known.get(api);
      return before?.heard === heard ? before : { api, heard, version: versionOf(api, heard) };
    });
    const isSame = next.length === this.#made.length && next.every((made, at) => made === this.#made[at]);
    if (isSame) return this.#versions;
    this.#made = next;
    this.#versions = next.map(({ version }) => version);
    return this.#versions;
  }
}

function versionOf({ group, version, order, isAvailable }: RemoteApi, heard: Heard): RemoteVersion {
  const freshness = isAvailable ? "Current" : "Stale";
  return {
    group,
    version,
    order,
    remote: heard.resources,
    freshness,
    schemas: heard.schemas,
    spec: heard.spec?.value,
  };
}

/** Of one version, out of an `APIGroupDiscoveryList`. Undefined when the document says nothing of it. */
export function resourcesInList(
  document: unknown,
  { group, version }: { readonly group: string; readonly version: string },
): readonly JsonObject[] | undefined {
  for (const item of objectsIn(document, "items")) {
    const { metadata } = item;
    if (!isJsonObject(metadata) || metadata["name"] !== group) continue;
    const found = objectsIn(item, "versions").find((each) => each["version"] === version);
    if (found !== undefined) return objectsIn(found, "resources").filter(hasName);
  }
  return undefined;
}

function hasName({ resource }: JsonObject): boolean {
  return typeof resource === "string" && resource !== "";
}

/** Of an `APIResourceList`: subresources go to the resource that they belong to. */
export function resourcesInPlainList(
  document: unknown,
  place: { readonly group: string; readonly version: string },
): readonly JsonObject[] {
  const members = new Map<string, JsonObject>();
  const all = objectsIn(document, "resources").filter(({ name }) => typeof name === "string");
  for (const resource of all) {
    const name = String(resource["name"]);
    if (!name.includes("/")) members.set(name, resourceMembers(resource, place));
  }
  for (const resource of all) {
    const [name = "", subresource] = String(resource["name"]).split("/", 2);
    const parent = members.get(name);
    if (subresource === undefined || parent === undefined) continue;
    const subresources = objectsIn(parent, "subresources");
    const own = { subresource, responseKind: kindOf(resource, place), verbs: textsIn(resource, "verbs") };
    members.set(name, { ...parent, subresources: [...subresources, own] });
  }
  return [...members.values()];
}

type Place = Parameters<typeof resourcesInList>[1];

function resourceMembers(resource: JsonObject, place: Place): JsonObject {
  const { name, singularName, namespaced } = resource;
  const [shortNames, categories] = [textsIn(resource, "shortNames"), textsIn(resource, "categories")];
  return {
    resource: name,
    responseKind: kindOf(resource, place),
    scope: namespaced === true ? "Namespaced" : "Cluster",
    singularResource: typeof singularName === "string" ? singularName : "",
    verbs: textsIn(resource, "verbs"),
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
  };
}

function kindOf({ group, version, kind }: JsonObject, place: Place): JsonObject {
  const isOwn = typeof group === "string" && group !== "" && typeof version === "string";
  return { ...(isOwn ? { group, version } : { group: place.group, version: place.version }), kind };
}

function objectsIn(value: unknown, field: string): readonly JsonObject[] {
  const list = isJsonObject(value) ? value[field] : undefined;
  return Array.isArray(list) ? (list as readonly unknown[]).filter(isJsonObject) : [];
}

function textsIn(value: JsonObject, field: string): readonly string[] {
  const list = value[field];
  return Array.isArray(list) ? (list as readonly unknown[]).filter((each) => typeof each === "string") : [];
}
