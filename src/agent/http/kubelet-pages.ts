/** Answers the requests of the kubelet's HTTP API that end with a response: pages and logs. */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { Metrics } from "../../base/metrics/metrics.ts";
import { jsonReply, METRICS_TEXT, textReply, type KubeletReply } from "./kubelet-reply.ts";
import type { ContainerPath, KubeletPage, KubeletRoute } from "./kubelet-route.ts";
import { parseLogQuery } from "./log-query.ts";
import { findLoggedRun } from "./logged-run.ts";
import { probeMetrics } from "./probe-metrics.ts";
import { findContainer, findPod, type ServedNode } from "./served-node.ts";
import { statsSummary } from "./stats-summary.ts";
import { cadvisorMetrics, resourceMetrics } from "./usage-metrics.ts";
import { UsageReader, type NodeReading } from "./usage-reading.ts";

export interface KubeletPagesParts {
  readonly loop: Loop;
  /** Metrics of the agent's process. */
  readonly metrics: Metrics;
}

/** Pages of all nodes of a process. A node costs memory once its usage is read. */
export class KubeletPages {
  readonly #parts: KubeletPagesParts;
  readonly #readers = new WeakMap<ServedNode, UsageReader>();

  constructor(parts: KubeletPagesParts) {
    this.#parts = parts;
  }

  async answer(node: ServedNode, route: KubeletRoute, query: URLSearchParams): Promise<KubeletReply> {
    if (route.type === "page") return this.#page(node, route.page);
    if (route.type === "logs") return this.#logs(node, route.place, query);
    return textReply(400, "you must upgrade the connection to SPDY/3.1 or to a WebSocket");
  }

  async #page(node: ServedNode, page: KubeletPage): Promise<KubeletReply> {
    switch (page) {
      case "healthz":
        return textReply(200, "ok");
      case "configz":
        return jsonReply({ kubeletconfig: node.configuration() });
      case "pods":
        return podList(node.pods());
      case "running-pods":
        return podList(await this.#runningPods(node));
      case "stats-summary":
        return jsonReply(statsSummary(await this.#read(node)));
      case "metrics":
        return { status: 200, contentType: METRICS_TEXT, body: await this.#parts.metrics.expose() };
      case "metrics-cadvisor":
        return { status: 200, contentType: METRICS_TEXT, body: cadvisorMetrics(await this.#read(node)) };
      case "metrics-probes": {
        const pods = node.pods().map((pod) => ({ pod, probes: node.probeTotals(pod) }));
        return { status: 200, contentType: METRICS_TEXT, body: probeMetrics(pods) };
      }
      case "metrics-resource":
        return { status: 200, contentType: METRICS_TEXT, body: resourceMetrics(await this.#read(node)) };
    }
  }

  #read(node: ServedNode): Promise<NodeReading> {
    const reader = this.#readers.get(node) ?? new UsageReader(node);
    this.#readers.set(node, reader);
    return reader.read(this.#parts.loop.now());
  }

  /** Running containers as the runtime sees them, without the rest of the spec. */
  async #runningPods(node: ServedNode): Promise<readonly object[]> {
    const { pods } = await this.#read(node);
    return pods.map(({ pod, containers }) => ({
      metadata: { name: pod.metadata.name, namespace: pod.metadata.namespace, uid: pod.metadata.uid },
      spec: {
        containers: containers.map(({ name }) => ({ name, image: findContainer(pod, name)?.image })),
      },
      status: {},
    }));
  }

  async #logs(node: ServedNode, place: ContainerPath, given: URLSearchParams): Promise<KubeletReply> {
    const parsed = parseLogQuery(given, this.#parts.loop.now());
    if ("problem" in parsed) return jsonMessage(parsed.status, parsed.problem);
    const pod = findPod(node, place);
    if (pod === undefined) return textReply(404, `pod "${place.pod}" does not exist`);
    const container = findContainer(pod, place.container);
    if (container === undefined)
      return textReply(404, `container "${place.container}" not found in pod "${place.pod}"`);
    const { isPrevious, view } = parsed;
    const run = findLoggedRun(pod, container.name, isPrevious);
    if ("problem" in run) return textReply(400, run.problem);
    const log = await node.readLog({ node: node.name, pod, container }, { ...view, attempt: run.attempt });
    if (log === undefined)
      return textReply(400, `the log of container "${container.name}" in pod "${place.pod}" is gone`);
    return { status: 200, contentType: "text/plain", body: log };
  }
}

function podList(items: readonly (Pod | object)[]): KubeletReply {
  return jsonReply({ kind: "PodList", apiVersion: "v1", metadata: {}, items });
}

function jsonMessage(status: number, message: string): KubeletReply {
  return { status, contentType: "application/json", body: JSON.stringify({ message }) };
}
