/** The past of objects: `setpoint timeline`, `diff --from`, `replay`, and reads at a moment. */
import { describe, expect, test } from "vitest";
import { Deployment } from "../../src/api/generated/types/apps-v1.ts";
import { ConfigMap, Secret } from "../../src/api/generated/types/core-v1.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { ChangeReader } from "../../src/insight/causes/read-changes.ts";
import { differenceText } from "../../src/insight/past/past-difference.ts";
import { findAt, listAt, revisionAt } from "../../src/insight/past/read-past.ts";
import { isStep, stepText, storyPages } from "../../src/insight/past/story.ts";
import { timelineOf, timelineText } from "../../src/insight/past/timeline.ts";
import { FactReader } from "../../src/insight/stuck/fact-reader.ts";
import { eventsOf } from "../../src/insight/stuck/gather-situation.ts";

const MAP = { namespace: "default", name: "a" };

async function startWithMap(): Promise<Cluster> {
  const cluster = await startCluster({ clock: "virtual", loops: [] });
  const maps = cluster.client(ConfigMap);
  for (const value of ["1", "2", "3"]) {
    await cluster.clock.advance("1m");
    if (value === "1") await maps.create({ metadata: { name: "a" }, data: { value } });
    else await maps.patch(MAP, { type: "merge", changes: { data: { value } } });
  }
  await cluster.clock.advance("1m");
  return cluster;
}

async function valueAgo(cluster: Cluster, minutes: number): Promise<string | undefined> {
  const at = cluster.clock.now() - minutes * 60_000;
  const revision = await revisionAt(cluster.client, { type: "time", at });
  const found = await findAt(cluster.client, ConfigMap, { key: MAP, revision });
  return found?.data?.["value"];
}

describe("the past", () => {
  test("is read at a time", async () => {
    await using cluster = await startWithMap();

    expect(await valueAgo(cluster, 0.5)).toBe("3");
    expect(await valueAgo(cluster, 1.5)).toBe("2");
    expect(await valueAgo(cluster, 2.5)).toBe("1");
    expect(await valueAgo(cluster, 3.5)).toBeUndefined();
    const revision = await revisionAt(cluster.client, { type: "time", at: cluster.clock.now() - 90_000 });
    const list = await listAt(cluster.client, ConfigMap, { namespace: "default", revision });
    expect(list.items.map(({ data }) => data)).toEqual([{ value: "2" }]);
  });

  test("before the first write that is remembered is refused", async () => {
    await using cluster = await startWithMap();

    const early = revisionAt(cluster.client, { type: "time", at: Date.parse("2000-01-01T00:00:00Z") });

    await expect(early).rejects.toMatchObject({ reason: "Expired" });
  });

  test("is compared with another moment, without values of Secrets", async () => {
    const map = (value: string) => ({
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: { name: "a" },
      data: { value },
    });
    const [before, after] = [
      { title: "then", object: map("1") },
      { title: "now", object: map("2") },
    ];
    const secret = (side: typeof before) => ({ ...side, object: { ...side.object, kind: "Secret" } });

    expect(differenceText(before, after)).toBe("--- then\n+++ now\n  data.value: 1 → 2\n");
    expect(differenceText(before, { ...before, title: "now" })).toBe("");
    expect(differenceText(secret(before), secret(after))).toContain("data.value: changed (secret)");
    expect(differenceText({ title: "then", object: undefined }, after)).toContain("--- then (did not exist)");
  });
});

describe("a timeline", () => {
  test("has changes and Events in order, with author, fields and cause", async () => {
    await using cluster = await startCluster({ clock: "virtual", nodes: 1 });
    const labels = { app: "web" };
    await cluster.client(Deployment).create({
      metadata: { name: "web" },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } },
      },
    });
    await cluster.settle();
    await cluster.client(Deployment).scale({ name: "web" }, 2);
    await cluster.settle();
    const [deployment] = cluster.objects(Deployment);
    const name = { group: "apps", kind: "Deployment", namespace: "default", name: "web" };
    const { items } = await new ChangeReader(cluster.client).of(name);
    const events = deployment === undefined ? [] : await eventsOf(new FactReader(cluster.client), deployment);

    const text = timelineText(timelineOf(items, events));

    expect(text).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} {2}rev \d+ +kubernetes-admin \(setpoint\) created Deployment web\n/,
    );
    expect(text).toMatch(/event +Normal ScalingReplicaSet: Scaled up replica set web-\w+ from 0 to 1\n/);
    expect(text).toMatch(/kubernetes-admin \(setpoint\) set Deployment web spec.replicas: 1 → 2\n/);
    expect(text).toMatch(
      /deployment-controller changed Deployment web\n +.*status.*\n[^]*woken by .*ReplicaSet web-/,
    );
    const times = text.split("\n").flatMap((line) => /^\d\d:\d\d:\d\d/.exec(line)?.[0] ?? []);
    expect(times).toEqual(times.toSorted());
    const back = items.map((change, at) => ({ ...change, ...(at > 1 && { time: "2000-01-01T00:00:00Z" }) }));
    const marks = timelineOf(back, events).flatMap(({ mark }) => (mark === "event" ? [] : [mark]));
    expect(marks).toEqual(items.map(({ revision }) => `rev ${revision}`));
  });
});

describe("a story", () => {
  test("has the steps that matter, after a revision and in a namespace", async () => {
    await using cluster = await startWithMap();
    await cluster.client(Secret).create({ metadata: { name: "s", namespace: "kube-system" } });
    const tell = async (namespace: string, after?: string): Promise<readonly string[]> => {
      const lines: string[] = [];
      for await (const page of storyPages(cluster.client, { namespace, after }))
        lines.push(...page.filter(isStep).map(stepText));
      return lines;
    };

    const all = await tell("default");
    expect(all.filter((line) => line.includes("ConfigMap a"))).toEqual([
      expect.stringMatching(/default: kubernetes-admin \(setpoint\) created ConfigMap a\n$/),
      expect.stringMatching(/set ConfigMap a data.value: 1 → 2\n$/),
      expect.stringMatching(/set ConfigMap a data.value: 2 → 3\n$/),
    ]);
    expect(all.join("")).not.toContain("kube-system:");
    const since = await revisionAt(cluster.client, { type: "time", at: cluster.clock.now() - 90_000 });
    expect((await tell("default", since)).filter((line) => line.includes("ConfigMap a"))).toHaveLength(1);
  });
});
