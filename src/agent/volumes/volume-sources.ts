/** Reads the API objects that volumes and variables are made of, with the identity of a node. */
import type { TokenRequest, TokenRequestSpec } from "../../api/generated/types/authentication-v1.ts";
import {
  ConfigMap,
  PersistentVolume,
  PersistentVolumeClaim,
  Secret,
  ServiceAccount,
} from "../../api/generated/types/core-v1.ts";
import type { Client } from "../../client/client.ts";

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

  constructor(client: Client, now: () => number) {
    this.#client = client;
    this.#now = now;
  }

  findConfigMap(name: ObjectName): Promise<ConfigMap | undefined> {
    return this.#shared(`configmap/${name.namespace}/${name.name}`, () => this.#client(ConfigMap).find(name));
  }

  findSecret(name: ObjectName): Promise<Secret | undefined> {
    return this.#shared(`secret/${name.namespace}/${name.name}`, () => this.#client(Secret).find(name));
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

  #shared<T>(key: string, read: () => Promise<T>): Promise<T> {
    const known = this.#reads.get(key);
    const now = this.#now();
    if (known !== undefined && known.at >= now - SHARED_MS) return known.result as Promise<T>;
    if (this.#reads.size >= READS_MAX) this.#reads.clear();
    const result = read();
    this.#reads.set(key, { at: now, result });
    return result;
  }
}
