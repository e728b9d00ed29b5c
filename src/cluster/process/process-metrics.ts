/** Metrics of the process, under Prometheus' standard names. */
import { readdirSync } from "node:fs";
import type { Loop } from "../../base/loop/loop.ts";
import type { Metrics } from "../../base/metrics/metrics.ts";

/** Reads the values only at a scrape. The returned function removes the metrics. */
export function exportProcessMetrics(metrics: Metrics, loop: Loop): () => void {
  const startedAt = loop.now() / 1000 - process.uptime();
  const leave = [
    metrics
      .counter({ name: "process_cpu_seconds_total", help: "CPU time used by the process, in seconds." })
      .read(() => {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1_000_000;
      }),
    metrics
      .gauge({ name: "process_resident_memory_bytes", help: "Resident memory in bytes." })
      .read(() => process.memoryUsage.rss()),
    metrics
      .gauge({
        name: "process_start_time_seconds",
        help: "Start time of the process, in seconds since 1970.",
      })
      .read(() => startedAt),
  ];
  if (process.platform === "linux")
    leave.push(
      metrics
        .gauge({ name: "process_open_fds", help: "Number of open file descriptors." })
        .read(() => readdirSync("/proc/self/fd").length),
    );
  return () => {
    for (const each of leave) each();
  };
}
