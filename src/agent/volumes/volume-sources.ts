/** Reads the API objects that volumes and variables are made of, with the identity of a node. */
import type { ApiObject } from "../../api/api-object.ts";
import type { TokenRequest, TokenRequestSpec } from "../../api/generated/types/authentication-v1.ts";
import {
  ConfigMap,
  PersistentVolume,
  PersistentVolumeClaim,
  Secret,
  ServiceAccount,
} from "../../api/generated/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import type { ConfigReference } from "../pod/config-needs.ts";

/** Reads of one burst share a result. */
const SHARED_MS = 20;
/** Upper bound of the remembered reads. */
const READS_MAX = 1000;

export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

export class VolumeSources {
  readonly #client: Client;
  readonly #now: () => number;
  readonly #reads = new Map<string, { readonly at: number; readonly result: Promise<unknown> }>();
  /** Version of each ConfigMap and Secret when it was last read; undefined if it was missing. */
  readonly #versions = new Map<string, string | undefined>();

  constructor(client: Client, now: () => number) {
    this.#client = client;
    this.#now = now;
  }

  findConfigMap(name: ObjectName): Promise<ConfigMap | undefined> {
    return this.#shared({ kind: "configmap", ...name }, () => this.#client(ConfigMap).find(name));
  }

  findSecret(name: ObjectName): Promise<Secret | undefined> {
    return this.#shared({ kind: "secret", ...name }, () => this.#client(Secret).find(name));
  }

  /** Whether the version, undefined for a deletion, differs from the one that was read last. The next read is a new one then. */
  isNews(object: ConfigReference, version: string | undefined): boolean {
    const key = keyOf(object);
    if (this.#versions.has(key) && this.#versions.get(key) === version) return false;
    this.#reads.delete(key);
    return true;
  }

  findClaim(name: ObjectName): Promise<PersistentVolumeClaim | undefined> {
    return this.#client(PersistentVolumeClaim).find(name);
  }

  findVolume(name: string): Promise<PersistentVolume | undefined> {
    return this.#client(PersistentVolume).find({ name });
  }

  async requestToken(account: ObjectName, spec: TokenRequestSpec): Promise<TokenRequest["status"]> {
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec };
    const made = await this.#client(ServiceAccount).subresource("token").create(account, body);
    return (made as TokenRequest).status;
  }

  #shared<T extends ApiObject>(
    object: ConfigReference,
    read: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const key = keyOf(object);
    const known = this.#reads.get(key);
    const now = this.#now();
    if (known !== undefined && known.at >= now - SHARED_MS) return known.result as Promise<T | undefined>;
    if (this.#reads.size >= READS_MAX) {
      this.#reads.clear();
      this.#versions.clear();
    }
    const result = this.#read(key, read);
    this.#reads.set(key, { at: now, result });
    return result;
  }

  async #read<T extends ApiObject>(key: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    const found = await read();
    this.#versions.set(key, found?.metadata.resourceVersion);
    return found;
  }
}

function keyOf({ kind, namespace, name }: ConfigReference): string {
  return `${kind}/${namespace}/${name}`;
}
