/** Keeps the last known discovery of extension servers, which this server adds to its own. */
import type { JsonObject } from "../../api/json/json-object.ts";
import type { RemoteApi, RemoteApis } from "./remote-apis.ts";
import type { RemoteSpec } from "./remote-spec.ts";

/** A group version that an extension server serves. */
export interface RemoteVersion {
  readonly group: string;
  readonly version: string;
  readonly order: readonly [group: number, version: number];
  /** Resources as members of the aggregated form. */
  readonly remote: readonly JsonObject[];
  /** `Current` if the last check reached the server. */
  readonly freshness: "Current" | "Stale";
  /** Paths of its OpenAPI v3 documents: `apis/GROUP/VERSION` → a path with a hash. Empty if it has none. */
  readonly schemas: ReadonlyMap<string, string>;
  /** Its OpenAPI v2 document, if it has one. */
  readonly spec: RemoteSpec | undefined;
}

/** Result of the last check of one server. */
export interface ServerDocuments {
  readonly resources: readonly JsonObject[];
  readonly schemas: ReadonlyMap<string, string>;
  readonly spec?: ServerSpec;
  /** Reason for a truncated discovery; undefined if it is complete. */
  readonly cut?: string;
}

export interface ServerSpec {
  /** ETag of the server's document, for conditional requests. */
  readonly etag: string;
  readonly value: RemoteSpec | undefined;
}

const NOTHING: ServerDocuments = { resources: [], schemas: new Map() };
/** Upper bound of the versions with resources in discovery. A large cluster has a dozen. */
const VERSIONS_MAX = 200;
const TOO_MANY: ServerDocuments = {
  ...NOTHING,
  cut: `more than ${String(VERSIONS_MAX)} APIs are served by other servers, and discovery leaves out the resources of this one`,
};

export class RemoteDiscovery {
  readonly #apis: RemoteApis;
  /** Keyed by the name of the APIService, and dropped with it. */
  readonly #heard = new Map<string, ServerDocuments>();
  #made: readonly {
    readonly api: RemoteApi;
    readonly heard: ServerDocuments;
    readonly version: RemoteVersion;
  }[] = [];
  #versions: readonly RemoteVersion[] = [];

  constructor(apis: RemoteApis) {
    this.#apis = apis;
  }

  /** Records a result and returns the part of it that discovery shows. */
  hear(name: string, heard: ServerDocuments): ServerDocuments {
    const others = [...this.#heard].filter(([other, { cut }]) => other !== name && cut !== TOO_MANY.cut);
    const shown = others.length < VERSIONS_MAX ? heard : TOO_MANY;
    this.#heard.set(name, shown);
    return shown;
  }

  find(name: string): ServerDocuments | undefined {
    return this.#heard.get(name);
  }

  forget(name: string): void {
    this.#heard.delete(name);
  }

  /** Returns the same list until something in it changes. */
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

function versionOf({ group, version, order, isAvailable }: RemoteApi, heard: ServerDocuments): RemoteVersion {
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
