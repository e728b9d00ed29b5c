/** The agent retries writes that the server refuses. */
import { expect, test } from "vitest";
import type { Manifest } from "../../src/api/api-object.ts";
import {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from "../../src/api/generated/types/admissionregistration-v1.ts";
import { Pod } from "../../src/api/generated/types/core-v1.ts";
import { silentLog, type Log } from "../../src/base/log/log.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { openCluster } from "./agent-fixture.ts";

test("a status that is refused is tried again as often, however much happened to its pod", async () => {
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => void warnings.push(message), with: () => log };
  await using cluster = await openCluster({ clock: "virtual", loops: [], nodes: 1, log });
  await cluster.settle();
  await refuseStatuses(cluster);
  const spec = { nodeName: "node-1", containers: [{ name: "app", image: "app" }] };
  await cluster.client(Pod).create({ metadata: { name: "web" }, spec } as Manifest<Pod>);
  for (let i = 0; i < 20; i++) {
    await cluster.clock.advance("1s");
    const annotations = { count: String(i) };
    await cluster
      .client(Pod)
      .patch({ name: "web" }, { type: "merge", changes: { metadata: { annotations } } });
  }

  warnings.length = 0;
  await cluster.clock.advance("1m");

  const tries = warnings.filter((message) => message === "cannot write pod; retrying in 10 s");
  expect(tries.length).toBeGreaterThanOrEqual(5);
  expect(tries.length).toBeLessThanOrEqual(7);
});

async function refuseStatuses(cluster: Cluster): Promise<void> {
  const resourceRules = [
    { apiGroups: [""], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["pods/status"] },
  ];
  await cluster.client(ValidatingAdmissionPolicy).create({
    metadata: { name: "refuse" },
    spec: { matchConstraints: { resourceRules }, validations: [{ expression: "false" }] },
  } as Manifest<ValidatingAdmissionPolicy>);
  await cluster.client(ValidatingAdmissionPolicyBinding).create({
    metadata: { name: "refuse" },
    spec: { policyName: "refuse", validationActions: ["Deny"] },
  } as Manifest<ValidatingAdmissionPolicyBinding>);
  await cluster.settle();
}
