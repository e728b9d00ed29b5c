/** The Targets column: the current and the target value of each metric. */

import type {
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from "../../../api/generated/types/autoscaling-v2.ts";

/** Upper bound, to keep the cell on one line. */
const SHOWN_MAX = 2;

export function metricsText(metrics: readonly MetricSpec[], statuses: readonly MetricStatus[]): string {
  if (metrics.length === 0) return "<none>";
  const texts = metrics.map((metric, i) => metricText(metric, statuses[i]));
  const shown = texts.slice(0, SHOWN_MAX).join(", ");
  return texts.length > SHOWN_MAX ? `${shown} + ${texts.length - SHOWN_MAX} more...` : shown;
}

type MetricText = (metric: MetricSpec, status: MetricStatus | undefined) => string;

const TEXTS: ReadonlyMap<string, MetricText> = new Map<string, MetricText>([
  ["External", ({ external }, status) => amountText(external?.target, status?.external?.current)],
  ["Object", ({ object }, status) => amountText(object?.target, status?.object?.current)],
  ["Pods", ({ pods }, status) => podsText(pods?.target, status?.pods?.current)],
  ["Resource", ({ resource }, status) => resourceText(resource, status?.resource?.current)],
  [
    "ContainerResource",
    ({ containerResource }, status) => resourceText(containerResource, status?.containerResource?.current),
  ],
]);

function metricText(metric: MetricSpec, status: MetricStatus | undefined): string {
  return TEXTS.get(metric.type)?.(metric, status) ?? "<unknown type>";
}

function podsText(target: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  return `${current?.averageValue ?? "<unknown>"}/${target?.averageValue ?? "<unknown>"}`;
}

function amountText(target: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  const { value, averageValue } = target ?? {};
  if (averageValue !== undefined) return `${current?.averageValue ?? "<unknown>"}/${averageValue} (avg)`;
  return `${current?.value ?? "<unknown>"}/${value ?? "<unknown>"}`;
}

function resourceText(
  metric: { readonly name: string; readonly target: MetricTarget } | undefined,
  current: MetricValueStatus | undefined,
): string {
  if (metric === undefined) return "<unknown>";
  const { name, target } = metric;
  if (target.averageValue !== undefined) {
    return `${name}: ${current?.averageValue ?? "<unknown>"}/${target.averageValue}`;
  }
  const wanted = target.averageUtilization === undefined ? "<auto>" : `${target.averageUtilization}%`;
  const now = current?.averageUtilization === undefined ? "<unknown>" : `${current.averageUtilization}%`;
  return `${name}: ${now}/${wanted}`;
}
