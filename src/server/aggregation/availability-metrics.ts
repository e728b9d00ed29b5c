/** Whether servers of other APIs can be asked, under the names people alert on. */
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
    help: "1 while the server of an API cannot be asked, else 0.",
    labels: ["name"],
  });
  const losses = metrics.counter({
    name: "aggregator_unavailable_apiservice_total",
    help: "How often the server of an API was found to be gone, by reason.",
    labels: ["name", "reason"],
  });
  return (name, wasAvailable, { isAvailable, reason }) => {
    unavailable.set(isAvailable ? 0 : 1, { name });
    if (wasAvailable && !isAvailable) losses.add(1, { name, reason });
  };
}
