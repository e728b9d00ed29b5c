/** Kinds that a server serves, from its discovery documents. Reads one small document per requested group version. */
import type { ResourceType } from "../api/api-object.ts";
import { isApiError } from "../api/errors/api-error.ts";
import { isJsonObject } from "../api/json/json-object.ts";
import { apiVersionOf, groupVersions } from "../api/schema/resource-facts.ts";

/** Upper bound of remembered group versions; a large cluster has some hundred. */
const KNOWN_MAX = 1000;

/** For example `v1` or `apps/v1`. */
const API_VERSION = /^(?:[a-z0-9][a-z0-9.-]*\/)?[a-z0-9]+$/;

type Kinds = ReadonlyMap<string, ResourceType>;

export interface KindName {
  readonly apiVersion: string;
  readonly kind: string;
}

export class ServedTypes {
  readonly #known = new Map<string, Kinds>();

  /** Remembers kinds that were found, and looks again for others. `read` returns the document at a path. */
  async find(name: KindName, read: (path: string) => Promise<unknown>): Promise<ResourceType | undefined> {
    const { apiVersion, kind } = name;
    const known = this.#known.get(apiVersion)?.get(kind);
    if (known !== undefined || !API_VERSION.test(apiVersion)) return known;
    const kinds = await readKinds(apiVersion, read);
    this.#remember(apiVersion, kinds);
    return kinds.get(kind);
  }

  /** Forgets a group version whose kinds may have changed. */
  forget(apiVersion: string): void {
    this.#known.delete(apiVersion);
  }

  #remember(apiVersion: string, kinds: Kinds): void {
    this.#known.delete(apiVersion);
    if (kinds.size > 0) this.#known.set(apiVersion, kinds);
    const [oldest] = this.#known.keys();
    if (this.#known.size > KNOWN_MAX && oldest !== undefined) this.#known.delete(oldest);
  }
}

/** Finds a kind of the published API, which needs no discovery. */
export function findBuiltInType({ apiVersion, kind }: KindName): ResourceType | undefined {
  const facts = groupVersions()
    .find((groupVersion) => apiVersionOf(groupVersion) === apiVersion)
    ?.resources.find((resource) => resource.kind === kind);
  return facts && { apiVersion, kind, plural: facts.name, namespaced: facts.namespaced };
}

/** Empty when the server does not serve the group version. */
async function readKinds(apiVersion: string, read: (path: string) => Promise<unknown>): Promise<Kinds> {
  const path = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  try {
    return kindsOf(apiVersion, await read(path));
  } catch (error) {
    if (isApiError(error, "NotFound")) return new Map();
    throw error;
  }
}

function kindsOf(apiVersion: string, document: unknown): Kinds {
  const kinds = new Map<string, ResourceType>();
  const resources = isJsonObject(document) ? document["resources"] : undefined;
  for (const resource of Array.isArray(resources) ? (resources as readonly unknown[]) : []) {
    if (!isJsonObject(resource)) continue;
    const { name, kind, namespaced } = resource;
    if (typeof name !== "string" || typeof kind !== "string") continue;
    // Subresources have a slash in their names, and kinds of their own.
    if (name.includes("/") || kinds.has(kind)) continue;
    kinds.set(kind, { apiVersion, kind, plural: name, namespaced: namespaced === true });
  }
  return kinds;
}
