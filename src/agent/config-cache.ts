/**
 * Caches the keys of ConfigMaps and Secrets that pods on this process's nodes have recently needed. One read
 * of an object serves all pods that request it meanwhile.
 */
import { ConfigMap, Secret } from "../api/generated/types/core-v1.ts";
import { errorText } from "../base/error-text.ts";
import type { Client } from "../client/client.ts";
import { WriteLimiter } from "../runtime/controller/write-limiter.ts";
import type { ConfigReference, ConfigState } from "./pod/config-needs.ts";

/** A controller keeps it in every namespace, and nearly all pods mount it. */
const ROOT_CA = "kube-root-ca.crt";
/** Pods of one burst share a result. The time is short, so that later pods notice a deleted object. */
const SHARED_MS = 20;
/** Longer, because the controller restores the object. */
const ROOT_CA_MS = 60_000;
const KEPT_MS = 60_000;
const KEPT_MAX = 10_000;
const NOTHING: ReadonlySet<string> = new Set();
const ASSUMED_ROOT_CA: ConfigState = { type: "found", keys: new Set(["ca.crt"]), binaryKeys: NOTHING };

export interface ConfigCacheParts<Requester> {
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly clientOf: (node: string) => Client;
  /** Called once the requested object is known. */
  readonly wake: (requester: Requester) => void;
  /**
   * Whether a controller publishes the server's certificate in each namespace. Without one, pods do not wait
   * for it.
   */
  readonly hasRootCa: boolean;
}

export interface ConfigLookup<Requester> {
  /** Earlier results do not count. */
  readonly since: number;
  readonly requester: Requester;
  /** The read uses this node's identity: a node may read the objects that its pods use. */
  readonly node: string;
}

interface Known {
  readonly at: number;
  readonly state: ConfigState;
}

export class ConfigCache<Requester> {
  readonly #parts: ConfigCacheParts<Requester>;
  /** In order of their read, the oldest first. */
  readonly #cached = new Map<string, Known>();
  readonly #reading = new Map<string, Set<Requester>>();
  /** Each read is a subject of its own, so that reads do not wait for each other. */
  readonly #limiter = new WriteLimiter<ReadonlySet<Requester>>();

  constructor(parts: ConfigCacheParts<Requester>) {
    this.#parts = parts;
  }

  /** Undefined when the object must be read first. Then `wake` is called after the read. */
  findConfig(reference: ConfigReference, lookup: ConfigLookup<Requester>): ConfigState | undefined {
    const isRootCa = reference.kind === "configmap" && reference.name === ROOT_CA;
    if (isRootCa && !this.#parts.hasRootCa) return ASSUMED_ROOT_CA;
    const key = `${reference.kind}/${reference.namespace}/${reference.name}`;
    const known = this.#cached.get(key);
    const sharedMs = isRootCa && known?.state.type === "found" ? ROOT_CA_MS : SHARED_MS;
    if (known !== undefined && known.at >= lookup.since - sharedMs) return known.state;
    this.#request(key, reference, lookup);
    return undefined;
  }

  /** Resolves when no read is in flight. The signal must be aborted before. */
  async end(): Promise<void> {
    await this.#limiter.quiet();
  }

  #request(key: string, reference: ConfigReference, { requester, node }: ConfigLookup<Requester>): void {
    const waiting = this.#reading.get(key);
    if (waiting !== undefined) {
      waiting.add(requester);
      return;
    }
    const requesters = new Set([requester]);
    this.#reading.set(key, requesters);
    this.#limiter.send(requesters, () => this.#read(key, reference, node));
  }

  async #read(key: string, reference: ConfigReference, node: string): Promise<void> {
    const at = this.#parts.now();
    const state = await readState(this.#parts.clientOf(node), reference);
    const requesters = this.#reading.get(key) ?? [];
    this.#reading.delete(key);
    if (this.#parts.signal.aborted) return;
    this.#keep(key, { at, state });
    for (const requester of requesters) this.#parts.wake(requester);
  }

  #keep(key: string, known: Known): void {
    this.#cached.delete(key);
    this.#cached.set(key, known);
    for (const [oldest, { at }] of this.#cached) {
      if (this.#cached.size <= KEPT_MAX && at >= known.at - KEPT_MS) return;
      this.#cached.delete(oldest);
    }
  }
}

async function readState(client: Client, { kind, namespace, name }: ConfigReference): Promise<ConfigState> {
  const key = { namespace, name };
  try {
    const found = await (kind === "secret" ? client(Secret).find(key) : client(ConfigMap).find(key));
    if (found === undefined) return { type: "missing" };
    const binaryKeys = "binaryData" in found ? keysOf(found.binaryData) : NOTHING;
    return { type: "found", keys: keysOf(found.data), binaryKeys };
  } catch (error) {
    return { type: "failed", message: errorText(error) };
  }
}

function keysOf(data: Readonly<Record<string, unknown>> | undefined): ReadonlySet<string> {
  return data === undefined ? NOTHING : new Set(Object.keys(data));
}
