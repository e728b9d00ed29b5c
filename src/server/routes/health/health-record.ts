/** /metrics/slis: outcomes of the health checks, for service level indicators. Nothing else is in this registry. */
import type { Labels } from "../../../base/metrics/metrics.ts";
import { createMetrics } from "../../../base/metrics/prom-metrics.ts";
import type { Route } from "../../request/exchange.ts";
import { METRICS_TYPE } from "../metrics.ts";

export interface HealthRecord {
  /** `check` has the name of the check and the endpoint that ran it, as labels. */
  note(check: Labels, status: "success" | "error"): void;
}

/** Record of the checks since the start of the server, and the route that shows it. */
export function healthRecord(): { readonly record: HealthRecord; readonly route: Route } {
  const metrics = createMetrics();
  const last = metrics.gauge({
    name: "kubernetes_healthcheck",
    help: "1 if the last run of the check succeeded, else 0.",
    labels: ["name", "type"],
  });
  const total = metrics.counter({
    name: "kubernetes_healthchecks_total",
    help: "Number of runs of the check, by outcome.",
    labels: ["name", "type", "status"],
  });
  const record: HealthRecord = {
    note(check, status) {
      last.set(status === "success" ? 1 : 0, check);
      total.add(1, { ...check, status });
    },
  };
  const route: Route = ({ info }) => {
    if (info.type !== "other" || info.path !== "/metrics/slis") return undefined;
    return metrics.expose().then((text) => ({
      status: 200,
      headers: new Map([["content-type", METRICS_TYPE]]),
      body: Buffer.from(text),
    }));
  };
  return { record, route };
}
