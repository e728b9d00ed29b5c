/**
 * Which ConfigMaps and Secrets there are, as far as pods on the nodes of this process have asked lately. An object is read once for all who ask at
 * the same time; of what is found only the keys are kept.
 */
import { ConfigMap, Secret } from "../api/generated/types/core-v1.ts";
import { errorText } from "../base/error-text.ts";
import type { Client } from "../client/client.ts";
import { WriteWindow } from "../runtime/controller/write-window.ts";
import type { ConfigReference, ConfigState } from "./pod/config-needs.ts";

/** In every namespace, kept there by a loop; nearly all pods have a volume of it. */
const ROOT_CA = "kube-root-ca.crt";
/** Pods that come in one burst share what one of them has found: short, so that what is deleted is missed by the next. */
const SHARED_MS = 20;
/** Nobody takes that one away. */
const ROOT_CA_MS = 60_000;
const KEPT_MS = 60_000;
const KEPT_MAX = 10_000;
const NOTHING: ReadonlySet<string> = new Set();
const ASSUMED: ConfigState = { type: "found", keys: new Set(["ca.crt"]), binaryKeys: NOTHING };

export interface ConfigMemoryParts<Asker> {
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly clientOf: (node: string) => Client;
  /** What was asked for is known now. */
  readonly wake: (asker: Asker) => void;
  /** Whether the certificate of the server is put into each namespace. Where nobody does that, nobody waits for it. */
  readonly hasRootCa: boolean;
}

export interface Question<Asker> {
  /** What was read before does not count. */
  readonly since: number;
  readonly asker: Asker;
  /** In whose name it is read: a node may read what its own pods use. */
  readonly node: string;
}

interface Known {
  readonly at: number;
  readonly state: ConfigState;
}

export class ConfigMemory<Asker> {
  readonly #parts: ConfigMemoryParts<Asker>;
  /** By when they were asked for, the oldest first. */
  readonly #known = new Map<string, Known>();
  readonly #asking = new Map<string, Set<Asker>>();
  /** Each request is a subject of its own. */
  readonly #window = new WriteWindow<ReadonlySet<Asker>>();

  constructor(parts: ConfigMemoryParts<Asker>) {
    this.#parts = parts;
  }

  /** Undefined when it has to be read first: then that is done, and whoever asks is woken. */
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

  /** Once the signal is aborted: resolves when nothing is being read any more. */
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
