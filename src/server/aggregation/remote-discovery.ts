/** What the servers of other APIs say that they serve, as last heard: clients are told of it with everything else. */
import type { JsonObject } from "../../api/json/json-object.ts";
import type { RemoteApi, RemoteApis } from "./remote-apis.ts";
import type { RemoteSpec } from "./remote-spec.ts";

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
  /** What of the server's discovery is not shown, and why; undefined when all is. */
  readonly cut?: string;
}

export interface HeardSpec {
  /** By which the server tells whether it still says the same. */
  readonly etag: string;
  readonly value: RemoteSpec | undefined;
}

const NOTHING: Heard = { resources: [], schemas: new Map() };
/** Versions of groups whose resources are shown; a large cluster has a dozen. */
const VERSIONS_MAX = 200;
const TOO_MANY: Heard = {
  ...NOTHING,
  cut: `more than ${String(VERSIONS_MAX)} APIs are served by other servers, and discovery leaves out the resources of this one`,
};

export class RemoteDiscovery {
  readonly #apis: RemoteApis;
  /** By the name of the APIService; forgotten with it. */
  readonly #heard = new Map<string, Heard>();
  #made: readonly { readonly api: RemoteApi; readonly heard: Heard; readonly version: RemoteVersion }[] = [];
  #versions: readonly RemoteVersion[] = [];

  constructor(apis: RemoteApis) {
    this.#apis = apis;
  }

  /** What is shown of it. */
  hear(name: string, heard: Heard): Heard {
    const others = [...this.#heard].filter(([other, { cut }]) => other !== name && cut !== TOO_MANY.cut);
    const shown = others.length < VERSIONS_MAX ? heard : TOO_MANY;
    this.#heard.set(name, shown);
    return shown;
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
