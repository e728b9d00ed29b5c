/** Metrics of the availability of extension servers, under upstream's names because alerts use them. */
import type { Metrics } from "../../base/metrics/metrics.ts";
import type { Availability } from "./availability.ts";

export type AvailabilityObserver = (
  name: string,
  before: Availability["isAvailable"],
  now: Availability,
) => void;

export function availabilityMetrics(metrics: Metrics): AvailabilityObserver {
  const unavailable = metrics.gauge({
    name: "aggregator_unavailable_apiservice",
    help: "1 while the extension server of an API is unavailable, else 0.",
    labels: ["name"],
  });
  const losses = metrics.counter({
    name: "aggregator_unavailable_apiservice_total",
    help: "Number of times the extension server of an API became unavailable, by reason.",
    labels: ["name", "reason"],
  });
  return (name, wasAvailable, { isAvailable, reason }) => {
    unavailable.set(isAvailable ? 0 : 1, { name });
    if (wasAvailable && !isAvailable) losses.add(1, { name, reason });
  };
}
