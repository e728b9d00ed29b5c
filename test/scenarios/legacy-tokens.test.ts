import { expect, test } from "vitest";
import { ConfigMap } from "../../src/api/generated/types/core-v1.ts";
import type { LogFields } from "../../src/base/log.ts";
import { silentLog } from "../../src/base/log.ts";
import { startCluster } from "../../src/cluster/start-cluster.ts";

test("the loop that clears unused tokens away may read since when uses are noted", async () => {
  const warnings: unknown[] = [];
  const log = {
    ...silentLog,
    warn: (message: string, fields?: LogFields) => warnings.push([message, fields]),
    with: () => log,
  };
  await using cluster = await startCluster({ clock: "virtual", log, nodes: 0 });
  await cluster.settle();

  const tracking = cluster
    .objects(ConfigMap, "kube-system")
    .find(({ metadata }) => metadata.name === "kube-apiserver-legacy-service-account-token-tracking");

  expect(tracking?.data).toEqual({ since: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/) as unknown });
  expect(warnings).toEqual([]);
});
