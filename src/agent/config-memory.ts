/**
 * Caches the keys of ConfigMaps and Secrets that pods on this process's nodes have recently needed. One read
 * of an object serves all pods that request it meanwhile.
 */
import { ConfigMap, Secret } from "../api/generated/types/core-v1.ts";
import { errorText } from "../base/error-text.ts";
import type { Client } from "../client/client.ts";
import { WriteWindow } from "../runtime/controller/write-window.ts";
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
const ASSUMED: ConfigState = { type: "found", keys: new Set(["ca.crt"]), binaryKeys: NOTHING };

export interface ConfigMemoryParts<Asker> {
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly clientOf: (node: string) => Client;
  /** Called once the requested object is known. */
  readonly wake: (asker: Asker) => void;
  /**
   * Whether a controller publishes the server's certificate in each namespace. Without one, pods do not wait
   * for it.
   */
  readonly hasRootCa: boolean;
}

export interface Question<Asker> {
  /** Earlier results do not count. */
  readonly since: number;
  readonly asker: Asker;
  /** The read uses this node's identity: a node may read the objects that its pods use. */
  readonly node: string;
}

interface Known {
  readonly at: number;
  readonly state: ConfigState;
}

export class ConfigMemory<Asker> {
  readonly #parts: ConfigMemoryParts<Asker>;
  /** In order of their read, the oldest first. */
  readonly #known = new Map<string, Known>();
  readonly #asking = new Map<string, Set<Asker>>();
  /** Each read is a subject of its own, so that reads do not wait for each other. */
  readonly #window = new WriteWindow<ReadonlySet<Asker>>();

  constructor(parts: ConfigMemoryParts<Asker>) {
    this.#parts = parts;
  }

  /** Undefined when the object must be read first. Then `wake` is called after the read. */
  look(reference: ConfigReference, question: Question<Asker>): ConfigState | undefined {
    const isRootCa = reference.kind === "configmap" && reference.name === ROOT_CA;
    if (isRootCa && !this.#parts.hasRootCa) return ASSUMED;
    const key = `${reference.kind}/${reference.namespace}/${reference.name}`;
    const known = this.#known.get(key);
    const sharedMs = isRootCa && known?.state.type === "found" ? ROOT_CA_MS : SHARED_MS;
    if (known !== undefined && known.at >= question.since - sharedMs) return known.state;
    this.#ask(key, reference, question);
    return undefined;
  }

  /** Resolves when no read is in flight. The signal must be aborted before. */
  async end(): Promise<void> {
    await this.#window.quiet();
  }

  #ask(key: string, reference: ConfigReference, { asker, node }: Question<Asker>): void {
    const asking = this.#asking.get(key);
    if (asking !== undefined) {
      asking.add(asker);
      return;
    }
    const askers = new Set([asker]);
    this.#asking.set(key, askers);
    this.#window.send(askers, () => this.#read(key, reference, node));
  }

  async #read(key: string, reference: ConfigReference, node: string): Promise<void> {
    const at = this.#parts.now();
    const state = await readState(this.#parts.clientOf(node), reference);
    const askers = this.#asking.get(key) ?? [];
    this.#asking.delete(key);
    if (this.#parts.signal.aborted) return;
    this.#keep(key, { at, state });
    for (const asker of askers) this.#parts.wake(asker);
  }

  #keep(key: string, known: Known): void {
    this.#known.delete(key);
    this.#known.set(key, known);
    for (const [oldest, { at }] of this.#known) {
      if (this.#known.size <= KEPT_MAX && at >= known.at - KEPT_MS) return;
      this.#known.delete(oldest);
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
