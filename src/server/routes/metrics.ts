/** /metrics: counters, and gauges that are read at each request. */
import type { ResourceFacts, StorageFacts } from "../../api/schema/resource-facts.ts";
import type { Metrics } from "../../base/metrics/metrics.ts";
import type { Store } from "../../store/store.ts";
import { prefixEnd } from "../../store/store.ts";
import type { Registry } from "../objects/registry.ts";
import { prefixOf } from "../objects/versions.ts";
import type { Route } from "../request/exchange.ts";
import type { RequestCounts } from "../request/request-counts.ts";
import { versionInfo } from "./discovery/version.ts";

interface Parts {
  readonly store: Store;
  readonly unreadable: (prefix: string) => readonly string[];
  readonly registry: Registry;
  readonly tally: RequestCounts;
}
type Reading = () => void;

/** Prometheus' text format. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export function metricsRoute(metrics: Metrics, parts: Parts): Route {
  const readings: readonly Reading[] = [
    readStore(metrics, parts),
    readObjects(metrics, parts),
    readRequests(metrics, parts),
    readWatches(metrics, parts),
    readDeprecated(metrics, parts),
  ];
  showBuild(metrics);
  return ({ info }) => {
    if (info.type !== "other" || info.path !== "/metrics") return undefined;
    for (const read of readings) read();
    return metrics.expose().then((text) => ({
      status: 200,
      headers: new Map([["content-type", METRICS_TYPE]]),
      body: Buffer.from(text),
    }));
  };
}

function readStore(metrics: Metrics, { store, unreadable }: Parts): Reading {
  const revision = metrics.gauge({ name: "setpoint_store_revision", help: "The newest visible revision." });
  const keys = metrics.gauge({ name: "setpoint_store_keys", help: "Number of keys in the store." });
  const ready = metrics.gauge({
    name: "setpoint_store_ready",
    help: "1 while the store accepts writes, else 0.",
  });
  const used = metrics.gauge({
    name: "setpoint_store_used_bytes",
    help: "Memory of the live entries and the history of the store.",
  });
  const quota = metrics.gauge({
    name: "setpoint_store_quota_bytes",
    help: "Upper bound of setpoint_store_used_bytes; 0 for none.",
  });
  const full = metrics.gauge({
    name: "setpoint_store_full",
    help: "1 while the store is full and refuses writes that add data, else 0.",
  });
  // Dashboards query the size of the storage under this name.
  const size = metrics.gauge({
    name: "apiserver_storage_size_bytes",
    help: "Memory of the live entries and the history of the store.",
    labels: ["storage_cluster_id"],
  });
  const values = metrics.gauge({
    name: "setpoint_store_unreadable_values",
    help: "Number of unreadable stored values; their objects are not served.",
  });
  return () => {
    const { usedBytes, quotaBytes, isFull } = store.space;
    used.set(usedBytes);
    size.set(usedBytes, { storage_cluster_id: "etcd-0" });
    quota.set(quotaBytes ?? 0);
    full.set(isFull ? 1 : 0);
    values.set(unreadable("").length);
    revision.set(store.view.revision);
    keys.set(store.view.count("", "\u{ffff}"));
    ready.set(store.health().state === "ready" ? 1 : 0);
  };
}

/** Exported under both names: alerts from before 1.34 know only the first. */
function readObjects(metrics: Metrics, { store, registry }: Parts): Reading {
  const byResource = metrics.gauge({
    name: "apiserver_storage_objects",
    help: "Number of stored objects by resource.",
    labels: ["resource"],
  });
  const byGroup = metrics.gauge({
    name: "apiserver_resource_objects",
    help: "Number of stored objects by group and resource.",
    labels: ["group", "resource"],
  });
  return () => {
    for (const { storage, group, name } of storedResources(registry)) {
      const prefix = prefixOf({ storage }, "");
      const count = store.view.count(prefix, prefixEnd(prefix));
      byResource.set(count, { resource: group === "" ? name : `${name}.${group}` });
      byGroup.set(count, { group, resource: name });
    }
  };
}

interface StoredFacts extends ResourceFacts {
  readonly storage: StorageFacts;
}

/** One version of each resource. Facts suffice, so that counting compiles no schemas. */
function storedResources(registry: Registry): Iterable<StoredFacts> {
  const found = new Map<string, StoredFacts>();
  for (const { resources } of registry.groupVersions) {
    for (const facts of resources) {
      const { storage } = facts;
      if (storage !== undefined && !found.has(storage.prefix))
        found.set(storage.prefix, { ...facts, storage });
    }
  }
  return found.values();
}

function readRequests(metrics: Metrics, { tally }: Parts): Reading {
  const inFlight = metrics.gauge({
    name: "apiserver_current_inflight_requests",
    help: "Number of requests in flight, except long-running ones.",
    labels: ["request_kind"],
  });
  const longRunning = metrics.gauge({
    name: "apiserver_longrunning_requests",
    help: "Number of open long-running requests: watches.",
    labels: ["verb", "group", "version", "resource", "subresource", "scope", "component"],
  });
  return () => {
    for (const [kind, count] of Object.entries(tally.inFlight)) inFlight.set(count, { request_kind: kind });
    for (const { labels, count } of tally.longRunning)
      longRunning.set(count, { ...labels, component: "apiserver" });
  };
}

/** The watches count their own events, once per batch. */
function readWatches(metrics: Metrics, { tally }: Parts): Reading {
  const events = metrics.counter({
    name: "apiserver_watch_events_total",
    help: "Number of events sent to watches.",
    labels: ["group", "version", "resource"],
  });
  const terminated = metrics.counter({
    name: "apiserver_terminated_watchers_total",
    help: "Number of watches terminated because their client read too slowly.",
    labels: ["group", "resource"],
  });
  const shown = new WeakMap<object, { readonly events: number; readonly tooSlow: number }>();
  return () => {
    for (const entry of tally.longRunning) {
      const { group, version, resource } = entry.labels;
      const before = shown.get(entry) ?? { events: 0, tooSlow: 0 };
      shown.set(entry, { events: entry.events, tooSlow: entry.tooSlow });
      events.add(entry.events - before.events, { group, version, resource });
      terminated.add(entry.tooSlow - before.tooSlow, { group, resource });
    }
  };
}

function readDeprecated(metrics: Metrics, { tally }: Parts): Reading {
  const asked = metrics.gauge({
    name: "apiserver_requested_deprecated_apis",
    help: "1 for each deprecated API that was requested.",
    labels: ["group", "version", "resource", "subresource", "removed_release"],
  });
  return () => {
    for (const { group, version, resource, subresource } of tally.deprecated)
      asked.set(1, { group, version, resource, subresource, removed_release: "" });
  };
}

function showBuild(metrics: Metrics): void {
  const { major, minor, gitVersion, gitCommit, gitTreeState, buildDate, goVersion, compiler, platform } =
    versionInfo() as Readonly<Record<string, string>>;
  const labels = {
    major: major ?? "",
    minor: minor ?? "",
    git_version: gitVersion ?? "",
    git_commit: gitCommit ?? "",
    git_tree_state: gitTreeState ?? "",
    build_date: buildDate ?? "",
    go_version: goVersion ?? "",
    compiler: compiler ?? "",
    platform: platform ?? "",
  };
  const build = metrics.gauge({
    name: "kubernetes_build_info",
    help: "Always 1; the labels name the served version of the API.",
    labels: Object.keys(labels),
  });
  build.set(1, labels);
}
