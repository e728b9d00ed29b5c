/** Alert rules and dashboard in docs/monitoring name only metrics and labels that `/metrics` has. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Deployment } from "../../src/api/generated/types/apps-v1.ts";
import { Pod } from "../../src/api/generated/types/core-v1.ts";
import { parseYaml } from "../../src/api/yaml/yaml.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { parseMetrics } from "../../src/insight/loops/metrics-text.ts";

const ALERTS = new URL("../../docs/monitoring/alerts.yaml", import.meta.url);
const DASHBOARD = new URL("../../docs/monitoring/dashboard.json", import.meta.url);

interface Alerts {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}

interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
}

test.each([
  ["alert rules", alertExpressions()],
  ["the dashboard", dashboardExpressions()],
])("%s", async (_, expressions) => {
  await using cluster = await startWithDrift();
  const text = String(await cluster.client.request({ path: "/metrics" }));
  const declared = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name));

  const used = expressions.flatMap((expression) =>
    [...expression.matchAll(/setpoint_\w+/g)].map(([name]) => name),
  );
  const unknown = used.filter((name) => !declared.has(name.replace(/_bucket$/, "")));

  expect(used.length).toBeGreaterThan(5);
  expect(unknown).toEqual([]);
  const labelled = expressions.flatMap((expression) => labelsIn(expression, text));
  expect(labelled).toEqual([]);
});

test("the drift of a cluster is in its metrics", async () => {
  await using cluster = await startWithDrift();
  await cluster.clock.advance("5m");

  const read = async (name: string, kind: string): Promise<number | undefined> => {
    const samples = parseMetrics(String(await cluster.client.request({ path: "/metrics" })));
    return samples.find((each) => each.name === name && each.labels["kind"] === kind)?.value;
  };
  const oldest = await read("setpoint_drift_oldest_seconds", "Pod");

  expect(await read("setpoint_drift_objects", "Pod")).toBe(1);
  expect(await read("setpoint_drift_objects", "Deployment")).toBe(1);
  expect(oldest).toBeGreaterThan(300);
  await cluster.client(Deployment).scale({ name: "web" }, 0);
  await cluster.settle();
  expect(cluster.objects(Pod)).toEqual([]);
  expect(await read("setpoint_drift_objects", "Pod")).toBe(0);
});

/** A Deployment whose only pod fits on no node. */
async function startWithDrift(): Promise<Cluster> {
  const cluster = await startCluster({ clock: "virtual", nodes: 1 });
  const labels = { app: "web" };
  const resources = { requests: { cpu: "99" } };
  await cluster.client(Deployment).create({
    metadata: { name: "web" },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1", resources }] } },
    },
  });
  await cluster.clock.advance("5s");
  return cluster;
}

function alertExpressions(): readonly string[] {
  const { groups } = parseYaml(readFileSync(ALERTS)).value as Alerts;
  return groups.flatMap(({ rules }) => rules.map(({ expr }) => expr));
}

function dashboardExpressions(): readonly string[] {
  const { panels } = JSON.parse(readFileSync(DASHBOARD, "utf8")) as Dashboard;
  return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
}

/** Labels of `by (…)` that no sample of the metric in the same expression has. */
function labelsIn(expression: string, text: string): readonly string[] {
  const [, by = ""] = /by \(([^)]*)\)/.exec(expression) ?? [];
  const [name = ""] = /setpoint_\w+/.exec(expression) ?? [];
  // A metric without samples yet, such as hot loops, shows no labels.
  const samples = parseMetrics(text).filter((each) => each.name === name);
  if (by === "" || samples.length === 0) return [];
  return by
    .split(", ")
    .filter((label) => !samples.some(({ labels }) => label in labels))
    .map((label) => `${name}{${label}}`);
}
