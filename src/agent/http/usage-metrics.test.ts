import { describe, expect, test } from "vitest";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import type { ContainerUsage } from "../runtime-handler.ts";
import type { ServedNode } from "./served-node.ts";
import { statsSummary } from "./stats-summary.ts";
import { cadvisorMetrics, resourceMetrics } from "./usage-metrics.ts";
import { UsageReader } from "./usage-reading.ts";

const POD = incomplete<Pod>({
  metadata: { name: "web", namespace: "shop", uid: "1" },
  spec: { containers: [{ name: "app", image: 'a"b' }] },
  status: { startTime: "2026-05-01T00:00:00Z" },
});
const APP: ContainerUsage = {
  name: "app",
  startedAt: 1_000,
  cpuMillis: 250,
  cpuSeconds: 1.5,
  memoryBytes: 1024,
};

/** A node that runs the pod with these containers; undefined without measurement. */
class OnePodNode implements ServedNode {
  readonly name = "node-1";
  containers: readonly ContainerUsage[] | undefined = [APP];

  isUp(): boolean {
    return true;
  }

  configuration(): Readonly<Record<string, unknown>> {
    return {};
  }

  pods(): readonly Pod[] {
    return [POD];
  }

  findRuntime(): ReturnType<ServedNode["findRuntime"]> {
    const usage = this.containers && { at: 5_000, containers: this.containers };
    return incomplete<NonNullable<ReturnType<ServedNode["findRuntime"]>>>({
      usage: () => Promise.resolve(usage),
    });
  }

  probeTotals(): ReturnType<ServedNode["probeTotals"]> {
    return [];
  }

  readLog(): ReturnType<ServedNode["readLog"]> {
    return Promise.resolve(undefined);
  }
}

describe("the usage of a node", () => {
  test("is exposed as metrics-server reads it", async () => {
    const page = resourceMetrics(await new UsageReader(new OnePodNode()).read(6_000));

    expect(page.split("\n").filter((line) => line !== "" && !line.startsWith("#"))).toEqual([
      'container_cpu_usage_seconds_total{container="app",namespace="shop",pod="web"} 1.5 5000',
      'container_memory_working_set_bytes{container="app",namespace="shop",pod="web"} 1024 5000',
      'container_start_time_seconds{container="app",namespace="shop",pod="web"} 1',
      "node_cpu_usage_seconds_total 1.5 6000",
      "node_memory_working_set_bytes 1024 6000",
      'pod_cpu_usage_seconds_total{namespace="shop",pod="web"} 1.5 5000',
      'pod_memory_working_set_bytes{namespace="shop",pod="web"} 1024 5000',
      "resource_scrape_error 0",
    ]);
  });

  test("is exposed with the labels of cAdvisor, quotes escaped", async () => {
    const page = cadvisorMetrics(await new UsageReader(new OnePodNode()).read(6_000));

    expect(page).toContain(
      'container_memory_working_set_bytes{container="app",id="/pods/1/app",image="a\\"b",name="app",namespace="shop",pod="web"} 1024 5000',
    );
  });

  test("is summed up in the summary", async () => {
    expect(statsSummary(await new UsageReader(new OnePodNode()).read(6_000))).toMatchObject({
      node: { nodeName: "node-1", cpu: { usageNanoCores: 250_000_000, usageCoreNanoSeconds: 1_500_000_000 } },
      pods: [{ podRef: { name: "web", namespace: "shop", uid: "1" }, containers: [{ name: "app" }] }],
    });
  });

  test("has CPU time that never decreases when containers end or restart", async () => {
    const node = new OnePodNode();
    const reader = new UsageReader(node);
    const totals = [];
    for (const containers of [[APP], undefined, [{ ...APP, startedAt: 9_000, cpuSeconds: 0.5 }]]) {
      node.containers = containers;
      totals.push((await reader.read(6_000)).cpuSeconds);
    }

    expect(totals).toEqual([1.5, 1.5, 2]);
  });
});
