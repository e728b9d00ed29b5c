/**
 * Finds the group versions that extension servers serve: those of the APIServices in the store. An APIService cannot replace a
 * built-in version.
 */
import type { APIService } from "../../api/generated/types/apiregistration-v1.ts";
import { prefixEnd } from "../../store/store.ts";
import type { Entry, Store } from "../../store/store.ts";
import type { EgressTarget, EgressTrust } from "../egress/egress.ts";
import { StoredObject } from "../objects/stored-object.ts";

export const API_SERVICES = "/registry/apiregistration.k8s.io/apiservices/";

export interface RemoteApi {
  /** Name of the APIService, such as `v1beta1.metrics.k8s.io`. */
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly target: EgressTarget & { readonly type: "service" };
  readonly trust: EgressTrust;
  readonly order: readonly [group: number, version: number];
  readonly isAvailable: boolean;
  /** Changes whenever anything but the status changes. */
  readonly edition: string;
}

export class RemoteApis {
  readonly #store: Store;
  /** Names of the APIServices of built-in versions. */
  readonly #builtIn: ReadonlySet<string>;
  /** Names of APIServices of extension servers, to skip the lookup for most requests. Undefined until `follow`. */
  #followed: Set<string> | undefined;
  readonly #known = new WeakMap<Entry, { readonly api: RemoteApi | undefined }>();

  constructor(store: Store, builtIn: readonly { readonly group: string; readonly version: string }[]) {
    this.#store = store;
    this.#builtIn = new Set(builtIn.map(({ group, version }) => `${version}.${group}`));
  }

  find(group: string, version: string): RemoteApi | undefined {
    const name = `${version}.${group}`;
    return this.#followed?.has(name) === false ? undefined : this.#look(name);
  }

  /** From now on only noted APIServices are looked up. The caller notes all existing ones in the same step. */
  follow(): void {
    this.#followed ??= new Set();
  }

  /** Reads the APIService again after a change. */
  note(name: string): RemoteApi | undefined {
    const api = this.#look(name);
    if (api === undefined) this.#followed?.delete(name);
    else this.#followed?.add(name);
    return api;
  }

  /** Sorted by name. */
  all(): readonly RemoteApi[] {
    const found: RemoteApi[] = [];
    for (const name of this.#names()) {
      const api = this.#look(name);
      if (api !== undefined) found.push(api);
    }
    return found;
  }

  #names(): Iterable<string> {
    if (this.#followed !== undefined) return [...this.#followed].toSorted();
    const entries = [...this.#store.view.range(API_SERVICES, prefixEnd(API_SERVICES))];
    return entries.map(({ key }) => key.slice(API_SERVICES.length));
  }

  #look(name: string): RemoteApi | undefined {
    if (this.#builtIn.has(name)) return undefined;
    const entry = this.#store.view.get(API_SERVICES + name);
    return entry === undefined ? undefined : this.#api(entry);
  }

  #api(entry: Entry): RemoteApi | undefined {
    const known = this.#known.get(entry);
    if (known !== undefined) return known.api;
    const api = remoteApi(StoredObject.of(entry).object as APIService);
    this.#known.set(entry, { api });
    return api;
  }
}

function remoteApi({ metadata, spec, status }: APIService): RemoteApi | undefined {
  const { service, group = "", version = "" } = spec;
  if (service === undefined) return undefined;
  const { namespace = "", name = "", port = 443 } = service;
  const isVerificationOff = spec.insecureSkipTLSVerify === true;
  const ca = spec.caBundle === undefined ? undefined : Buffer.from(spec.caBundle, "base64").toString();
  return {
    name: metadata.name,
    group,
    version,
    target: { type: "service", namespace, name, port, path: "" },
    trust: { ca, isVerificationOff },
    order: [spec.groupPriorityMinimum, spec.versionPriority],
    isAvailable:
      status.conditions?.some(({ type, status: is }) => type === "Available" && is === "True") === true,
    edition: JSON.stringify([metadata.uid, spec]),
  };
}
