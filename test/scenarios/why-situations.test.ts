/** `setpoint why` of objects in many situations on one cluster: the state, the first lines, and commands that help. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Namespace } from "../../src/api/generated/types/core-v1.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { explainObject } from "../../src/insight/explain/explain-object.ts";
import { findServedKind } from "../../src/insight/served-kind.ts";
import { LATER, SITUATIONS } from "./situations-fixture.ts";

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ clock: "virtual", nodes: 2 });
  const client = cluster.client.with({ fieldManager: "jo" });
  for (const object of SITUATIONS) await client.apply(object);
  await cluster.clock.advance("20s");
  for (const object of LATER) await client.apply(object);
  await client(Namespace).delete({ name: "leaving" });
  await cluster.clock.advance("45s");
});
afterAll(async () => await cluster.stop());

interface Answer {
  readonly state: string;
  readonly lines: readonly string[];
  readonly commands: readonly string[];
}

async function why(asked: string): Promise<Answer> {
  const [kind = "", name = "", namespace = "default"] = asked.split("/");
  const type = await findServedKind(cluster.client, kind);
  if (type === undefined) throw new Error(`there is no kind ${kind}`);
  const object = { type, name, namespace: type.namespaced ? namespace : "" };
  const { state, obstacles } = await explainObject(cluster.client, object, cluster.clock.now());
  const plain = (text: string): string =>
    text.replaceAll(/-(?=[a-z]*\d)[a-z0-9]{8,10}(-[a-z0-9]{5})?\b/g, "-X");
  return {
    state,
    lines: obstacles.map(({ of, blockedBy }) => plain(of === undefined ? blockedBy : `${of}: ${blockedBy}`)),
    commands: obstacles.flatMap(({ unblock }) => unblock.map(({ command }) => plain(command))),
  };
}

describe("why names the obstacle and a command that helps", () => {
  test.each([
    [
      "deploy/large/memory",
      /^ReplicaSet large-X: ResourceQuota memory\/q: requests.memory 600Mi of 1Gi used; refused \d+ times/,
      "kubectl scale deployment large -n memory --replicas=1",
    ],
    [
      "deploy/unstated/memory",
      /ResourceQuota memory\/q refuses pods that do not state requests.memory$/,
      "kubectl set resources deployment unstated -n memory --requests=memory=128Mi",
    ],
    [
      "deploy/tiny/range",
      /a refused write: minimum cpu usage per Container is 100m, but request is 10m/,
      "kubectl edit deployment tiny -n range",
    ],
    [
      "deploy/privileged/strict",
      /Pod Security of the namespace \(restricted:latest\) refuses the pods: privileged/,
      "kubectl edit deployment privileged -n strict",
    ],
    [
      "deploy/refused",
      /ValidatingAdmissionPolicy team refuses the write: a label is missing/,
      "kubectl get validatingadmissionpolicy team -o yaml",
    ],
    [
      "pod/selector",
      /none of 2 nodes fits: .*; it wants a node with disk=ssd$/,
      "kubectl label node node-1 disk=ssd",
    ],
    [
      "pod/huge",
      /2 Insufficient cpu; it asks for 99 of cpu, the largest node has 8$/,
      "kubectl describe nodes",
    ],
    ["pod/gated", /^scheduling gates: example.com\/wait/, "kubectl patch pod gated --type=json"],
    ["pvc/no-class", /StorageClass fast does not exist$/, "kubectl delete pvc no-class"],
    [
      "pvc/wrong-mode",
      /PersistentVolume pv offers ReadWriteOnce, the claim asks for ReadWriteMany$/,
      "kubectl get storageclass",
    ],
    ["pvc/late", /StorageClass late makes no volumes .*, and none is free$/, "kubectl apply -f VOLUME.yaml"],
    ["pod/uses-late", /PersistentVolumeClaim default\/late is not bound/, "setpoint why pvc/late"],
    [
      "pod/lacks-key",
      /^ConfigMap default\/settings has no key b,/,
      `kubectl patch configmap settings -p '{"data":{"b"`,
    ],
    [
      "pod/lacks-file",
      /^ConfigMap default\/settings has no key z,/,
      `kubectl patch configmap settings -p '{"data":{"z"`,
    ],
    [
      "pod/no-login",
      /app:nonexistent: not found; its imagePullSecrets do not exist: login$/,
      "kubectl create secret docker-registry login --docker-server=HOST",
    ],
    [
      "deploy/crashing",
      /^Pod crashing-X: container app ended with code 3 \(Error\), restarts: \d/,
      "kubectl logs crashing-X -c app --previous",
    ],
    [
      "deploy/unready",
      /^Pod unready-X: container app runs, but is not ready: Readiness probe failed/,
      "kubectl logs unready-X -c app",
    ],
    [
      "deploy/unhealthy",
      /container app was ended by its liveness probe \(Liveness probe failed/,
      "kubectl logs",
    ],
    ["svc/unready", /^none of its 2 pods is ready, so it has no endpoints$/, "kubectl logs unready-X -c app"],
    [
      "svc/mistyped",
      /^no pod has the labels app=unredy, so it has no endpoints$/,
      `kubectl patch service mistyped -p '{"spec":{"selector":{"app":"unready"}}}'`,
    ],
    [
      "svc/wrong-port",
      /^its targetPort http is the name of no port of its pods/,
      "kubectl edit service wrong-port",
    ],
    ["svc/cloud", /^no controller has made its load balancer/, "kubectl patch service cloud -p"],
    [
      "ingress/front",
      /^Service default\/fin does not exist, .*\(there is a Service fine\)$/,
      "kubectl edit ingress front",
    ],
    [
      "hpa/no-request",
      /^container app of Deployment fine requests no cpu/,
      "kubectl set resources deployment fine -c app --requests=cpu=100m",
    ],
    [
      "hpa/no-target",
      /^its target Deployment absent cannot be scaled: .*not found$/,
      "kubectl edit horizontalpodautoscaler",
    ],
    ["job/failing", /^the Job failed for good \(BackoffLimitExceeded\)/, "kubectl delete job failing"],
    ["job/suspended", /^it is suspended/, `kubectl patch job suspended -p '{"spec":{"suspend":false}}'`],
    [
      "job/unplaced",
      /^Pod unplaced-\w+: the scheduler: .*it wants a node with a=b$/,
      "kubectl label node node-1 a=b",
    ],
    [
      "cronjob/suspended",
      /^it is suspended/,
      `kubectl patch cronjob suspended -p '{"spec":{"suspend":false}}'`,
    ],
    ["cronjob/never", /^its schedule starts no Job: /, "kubectl edit cronjob never"],
    ["sts/db", /^Pod db-0: container app runs, but is not ready/, "kubectl logs db-0 -c app"],
    [
      "ds/nowhere",
      /^none of 2 nodes has the labels that it wants: no=such$/,
      "kubectl label node node-1 no=such",
    ],
    [
      "apiservice/v1.away.example.com",
      /^the server of the API does not answer: service\/absent/,
      "kubectl delete apiservice v1.away.example.com",
    ],
    [
      "crd/gadgets.example.com",
      /^another CustomResourceDefinition of the group has its names: /,
      "kubectl delete crd gadgets",
    ],
    [
      "ns/leaving",
      /^it still holds configmaps\/left; .*away.example.com/,
      "setpoint why configmaps/left -n leaving",
    ],
    ["lease/operator", /^its last holder is op-1, which no longer renews it/, "kubectl get pods"],
  ])("%s", async (asked, line, command) => {
    const { lines, commands } = await why(asked);

    expect(lines[0]).toMatch(line);
    expect(commands.find((each) => each.startsWith(command))).toBeDefined();
  });

  test("a Job that failed also shows how its pod ended", async () => {
    const { lines } = await why("job/failing");

    expect(lines[1]).toMatch(/^Pod failing-\w+: container job ended with code 2 \(Error\)$/);
  });
});

describe("the state of an object as desired", () => {
  test.each([
    ["svc/fine", /^2 of 2 pods ready$/],
    ["job/done", /^complete for /],
    ["node/node-1", /^ready for /],
    ["cronjob/suspended", /^suspended$/],
  ])("of %s is told", async (asked, state) => {
    expect((await why(asked)).state).toMatch(state);
  });
});

describe("an object that does not exist", () => {
  test.each([
    ["deploy/crahsing", 'deployments.apps "crahsing" not found in namespace default; did you mean crashing?'],
    [
      "deploy/large",
      'deployments.apps "large" not found in namespace default; one exists in namespace memory: add -n memory',
    ],
    ["deploy/zzz", 'deployments.apps "zzz" not found in namespace default'],
  ])("%s is answered with what may have been meant", async (asked, message) => {
    await expect(why(asked)).rejects.toThrow(new Error(message));
  });
});
