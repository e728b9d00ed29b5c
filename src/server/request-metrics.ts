/** Counts and times requests under the names people alert on, and shows them at /metrics. */
import type { BoundCounter, BoundHistogram, Metrics } from "../base/metrics.ts";
import type { Store } from "../store/store.ts";
import type { Workshop } from "./call.ts";
import type { Exchange, Site, Stage } from "./exchange.ts";
import type { Registry } from "./registry.ts";
import type { RequestInfo } from "./request-info.ts";

/** Upstream's, thinned: from a request served from memory to the bound of 60 seconds. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

const LABELS = ["verb", "group", "version", "resource", "subresource", "scope"] as const;
type RequestLabels = Readonly<Record<(typeof LABELS)[number], string>>;
const NOTHING: RequestLabels = { verb: "", group: "", version: "", resource: "", subresource: "", scope: "" };

/** Where the requests of one kind with one outcome are counted. */
interface Meter {
  readonly total: BoundCounter;
  readonly duration: BoundHistogram;
}

export function measure(metrics: Metrics, { loop, registry }: Pick<Workshop, "loop" | "registry">): Stage {
  const total = metrics.counter({
    name: "apiserver_request_total",
    help: "Requests by verb, resource and HTTP status.",
    labels: [...LABELS, "code"],
  });
  const duration = metrics.histogram({
    name: "apiserver_request_duration_seconds",
    help: "Time from the first byte of a request to its answer; watches until they begin.",
    labels: LABELS,
    buckets: SECONDS,
  });
  const meters = new Map<string, Meter>();
  const makeMeter = (name: string, labels: RequestLabels, status: number): Meter => {
    const meter = {
      total: total.bind({ ...labels, code: String(status) }),
      duration: duration.bind(labels),
    };
    meters.set(name, meter);
    return meter;
  };
  const meterOf = ({ info }: Exchange, status: number): Meter => {
    const name = meterName(info, status);
    const known = meters.get(name);
    if (known !== undefined) return known;
    const labels = findLabels(info, registry);
    if (labels !== undefined) return makeMeter(name, labels, status);
    return meters.get(String(status)) ?? makeMeter(String(status), NOTHING, status);
  };
  return async (exchange, next) => {
    const startedAt = loop.elapsed();
    const response = await next(exchange);
    const meter = meterOf(exchange, response.status);
    meter.total.add();
    meter.duration.observe((loop.elapsed() - startedAt) / 1000);
    return response;
  };
}

function meterName(info: RequestInfo, status: number): string {
  if (info.type === "other") return String(status);
  const { verb, group, version, resource, subresource, namespace, name } = info;
  return `${String(status)} ${verb} ${group}/${version}/${resource}/${subresource} ${scopeOf(namespace, name)}`;
}

/** Undefined for what a client made up: the number of labels would have no bound. */
function findLabels(info: RequestInfo, registry: Registry): RequestLabels | undefined {
  const found = info.type === "resource" ? registry.find(info) : undefined;
  if (info.type === "other" || found === undefined) return undefined;
  const { verb, group, version, resource, subresource, namespace, name } = info;
  const isKnown = subresource === "" || found.facts.subresources.some((one) => one.name === subresource);
  if (!isKnown) return undefined;
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
