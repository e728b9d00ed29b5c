/** Counts and times requests under the names people alert on, and shows them at /metrics. */
import type { Loop } from "../base/loop.ts";
import type { Labels, Metrics } from "../base/metrics.ts";
import type { Store } from "../store/store.ts";
import type { Exchange, Site, Stage } from "./exchange.ts";

/** Upstream's, thinned: from a request served from memory to the bound of 60 seconds. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export function measure(metrics: Metrics, loop: Loop): Stage {
  const labels = ["verb", "group", "version", "resource", "subresource", "scope"];
  const total = metrics.counter({
    name: "apiserver_request_total",
    help: "Requests by verb, resource and HTTP status.",
    labels: [...labels, "code"],
  });
  const duration = metrics.histogram({
    name: "apiserver_request_duration_seconds",
    help: "Time from the first byte of a request to its answer; watches until they begin.",
    labels,
    buckets: SECONDS,
  });
  return async (exchange, next) => {
    const startedAt = loop.elapsed();
    const response = await next(exchange);
    const about = labelsOf(exchange, response.status);
    total.add(1, { ...about, code: String(response.status) });
    duration.observe((loop.elapsed() - startedAt) / 1000, about);
    return response;
  };
}

/** What a client made up is not a label: their number would have no bound. */
function labelsOf({ info }: Exchange, status: number): Labels {
  const isKnown = info.type === "resource" && status !== 404;
  if (!isKnown) return { verb: "", group: "", version: "", resource: "", subresource: "", scope: "" };
  const { verb, group, version, resource, subresource, namespace, name } = info;
  return { verb: verb.toUpperCase(), group, version, resource, subresource, scope: scopeOf(namespace, name) };
}

function scopeOf(namespace: string, name: string): string {
  if (name !== "") return "resource";
  return namespace === "" ? "cluster" : "namespace";
}

export function metricsSite(metrics: Metrics, store: Store): Site {
  const revision = metrics.gauge({ name: "setpoint_store_revision", help: "The newest visible revision." });
  const keys = metrics.gauge({ name: "setpoint_store_keys", help: "Number of keys in the store." });
  return ({ path, info }) => {
    if (info.type !== "other" || path !== "/metrics") return undefined;
    revision.set(store.view.revision);
    keys.set(store.view.count("", "\u{ffff}"));
    return metrics.expose().then((text) => ({
      status: 200,
      headers: new Map([["content-type", "text/plain; version=0.0.4; charset=utf-8"]]),
      body: Buffer.from(text),
    }));
  };
}
