/** Usage of nodes and pods, as their kubelets measure it. Asked on demand, kept for a moment, and bounded. */
import type { Node, Pod } from "../../api/generated/types/core-v1.ts";
import { errorText } from "../../base/error-text.ts";
import type { Log } from "../../base/log/log.ts";
import { inParallel } from "../../base/loop/in-parallel.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { Store } from "../../store/store.ts";
import type { OpenEgress } from "../egress/create-egress.ts";
import { StoredObject } from "../objects/stored-object.ts";
import type {
  ContainerUsage,
  OwnUsage,
  Usage,
  UsageReadings,
  UsageSource,
} from "../verbs/metrics-api/usage-source.ts";
import type { NodeLink } from "./node-link.ts";
import { parseStatsSummary } from "./stats-summary.ts";
import type { StatsSummary } from "./stats-summary.ts";

export interface NodeUsageParts {
  readonly loop: Loop;
  readonly log: Log;
  readonly store: Store;
  readonly egress: OpenEgress;
  readonly link: NodeLink;
  /** Usage that needs no request. */
  readonly own: OwnUsage;
}

/** The kubelet's own interval of measurements. */
const WINDOW_MS = 15_000;
/** A kubelet is asked at most this often, whether it answers or not. */
const FRESH_MS = 10_000;
/** Nodes that nothing asked about for this time are forgotten. */
const KEPT_MS = 300_000;
const SCRAPES_MAX = 32;
/** The part of the summary that is read. The rest would be most of it. */
const SUMMARY_PATH = "/stats/summary?only_cpu_and_memory=true";
/** A summary has some 2 KiB for a pod. */
const SUMMARY_BYTES_MAX = 4 * 1024 * 1024;

interface Scrape {
  readonly at: number;
  readonly summary: Promise<StatsSummary | undefined>;
}

export class NodeUsage implements UsageSource {
  readonly windowMs = WINDOW_MS;
  readonly #parts: NodeUsageParts;
  readonly #scrapes = new Map<string, Scrape>();

  constructor(parts: NodeUsageParts) {
    this.#parts = parts;
  }

  async read(nodeNames: ReadonlySet<string>): Promise<UsageReadings> {
    const summaries = new Map<string, StatsSummary>();
    const asked = [...nodeNames].filter((name) => this.#needsScrape(name));
    await inParallel(asked, SCRAPES_MAX, async (name) => {
      const summary = await this.#summary(name);
      if (summary !== undefined) summaries.set(name, summary);
    });
    return new Readings(this.#parts.own, summaries);
  }

  #needsScrape(nodeName: string): boolean {
    const entry = this.#parts.store.view.get(`/registry/minions/${nodeName}`);
    return entry !== undefined && !this.#parts.own.covers(StoredObject.of(entry).object as Node);
  }

  #summary(nodeName: string): Promise<StatsSummary | undefined> {
    const now = this.#parts.loop.now();
    const known = this.#scrapes.get(nodeName);
    if (known !== undefined && now - known.at < FRESH_MS) return known.summary;
    for (const [name, { at }] of this.#scrapes) if (now - at > KEPT_MS) this.#scrapes.delete(name);
    const summary = this.#scrape(nodeName);
    this.#scrapes.set(nodeName, { at: now, summary });
    return summary;
  }

  /** A node that does not answer has no figures, as with metrics-server. */
  async #scrape(nodeName: string): Promise<StatsSummary | undefined> {
    const { loop, log, link } = this.#parts;
    const ending = new AbortController();
    const late = loop.timer(loop.now() + link.timeoutMs, "periodic", () => ending.abort());
    try {
      return parseStatsSummary(await this.#body(nodeName, ending.signal));
    } catch (error) {
      log.debug("a node's usage cannot be read", { node: nodeName, error: errorText(error) });
      return undefined;
    } finally {
      late.cancel();
    }
  }

  async #body(nodeName: string, signal: AbortSignal): Promise<Uint8Array> {
    const { egress, link } = this.#parts;
    const { answer } = await egress.open({
      ...(await link.kubelet(nodeName)),
      method: "GET",
      path: SUMMARY_PATH,
      headers: { accept: "application/json" },
      body: undefined,
      mayUpgrade: false,
      isRepeatable: true,
      signal,
    });
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of answer as AsyncIterable<Uint8Array>) {
      bytes += piece.byteLength;
      if (bytes > SUMMARY_BYTES_MAX)
        throw new RangeError(`the summary is longer than ${SUMMARY_BYTES_MAX} bytes`);
      pieces.push(piece);
    }
    if (answer.statusCode !== 200) throw new Error(`the kubelet answered with status ${answer.statusCode}`);
    return Buffer.concat(pieces);
  }
}

class Readings implements UsageReadings {
  readonly #own: OwnUsage;
  readonly #summaries: ReadonlyMap<string, StatsSummary>;

  constructor(own: OwnUsage, summaries: ReadonlyMap<string, StatsSummary>) {
    this.#own = own;
    this.#summaries = summaries;
  }

  findPod(pod: Pod): readonly ContainerUsage[] | undefined {
    const { name, namespace = "" } = pod.metadata;
    const summary = this.#summaries.get(pod.spec.nodeName ?? "");
    return this.#own.findPod(pod) ?? summary?.pods.get(`${namespace}/${name}`);
  }

  findNode(node: Node, pods: readonly Pod[]): Usage | undefined {
    return this.#own.findNode(node, pods) ?? this.#summaries.get(node.metadata.name)?.node;
  }
}
