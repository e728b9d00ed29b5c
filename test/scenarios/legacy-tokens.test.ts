import { expect, test } from "vitest";
import { ConfigMap, Secret } from "../../src/api/generated/types/core-v1.ts";
import type { LogFields } from "../../src/base/log/log.ts";
import { silentLog } from "../../src/base/log/log.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";

const TRACKING = "kube-apiserver-legacy-service-account-token-tracking";

test("the loop that clears unused tokens away may read since when uses are noted, and leaves used ones alone", async () => {
  const warnings: unknown[] = [];
  const log = {
    ...silentLog,
    warn: (message: string, fields?: LogFields) => warnings.push([message, fields]),
    with: () => log,
  };
  await using cluster = await startCluster({ clock: "virtual", log, nodes: 0 });
  await cluster.client(ConfigMap).create({
    metadata: { name: TRACKING, namespace: "kube-system" },
    data: { since: "2020-01-01" },
  });
  await cluster.client(Secret).create({
    metadata: { name: "t", annotations: { "kubernetes.io/service-account.name": "default" } },
    type: "kubernetes.io/service-account-token",
  });
  await cluster.settle();

  const [token] = cluster.objects(Secret, "default");

  expect(token?.metadata.labels).toBeUndefined();
  expect(warnings).toEqual([]);
});
