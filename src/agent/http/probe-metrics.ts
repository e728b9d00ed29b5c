/** Page `/metrics/probes`: results of probes since the start of their pods, with the kubelet's names and labels. */
import type { Pod } from "../../api/generated/types/core-v1.ts";
import type { ProbeTotals } from "../probes/probe-totals.ts";
import { exposed, type Sample } from "./metric-families.ts";

export function probeMetrics(
  pods: readonly { readonly pod: Pod; readonly probes: readonly ProbeTotals[] }[],
): string {
  const samples = pods.flatMap(({ pod, probes }) => probes.flatMap((probe) => samplesOf(pod, probe)));
  const help =
    "[BETA] Cumulative number of a liveness, readiness or startup probe for a container by result.";
  return exposed([{ name: "prober_probe_total", help, type: "counter", samples }]);
}

function samplesOf({ metadata }: Pod, { container, type, success, failure }: ProbeTotals): readonly Sample[] {
  const { namespace = "", name: pod, uid } = metadata;
  const sample = (result: string, value: number): Sample => ({
    labels: { container, namespace, pod, pod_uid: uid, probe_type: typeName(type), result },
    value,
    at: undefined,
  });
  return [sample("successful", success), sample("failed", failure)].filter(({ value }) => value > 0);
}

function typeName(type: string): string {
  return `${type.slice(0, 1).toUpperCase()}${type.slice(1)}`;
}
