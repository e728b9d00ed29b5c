/** Claims about the operator of queue.yaml, in order: all claims share the cluster, and the last one uninstalls the operator. */
import { afterAll, expect, test } from "vitest";
import { CustomResourceDefinition } from "../../../src/api/generated/types/apiextensions-v1.ts";
import { Deployment } from "../../../src/api/generated/types/apps-v1.ts";
import { Namespace, Secret } from "../../../src/api/generated/types/core-v1.ts";
import type { Client } from "../../../src/client/client.ts";
import type { Connection } from "../../../src/client/connection.ts";
import { table } from "../kubectl/kubectl.ts";
import type { Kubectl } from "../kubectl/kubectl.ts";
import { documents } from "./fixture.ts";
import type { OperatorFixture } from "./fixture.ts";
import { holds, install, reasons, SOON } from "./installation.ts";
import type { Installation } from "./installation.ts";
import { OperatorRun, OperatorWebhooks } from "./operator-run.ts";
import { injectConversion, queueHooks, queues } from "./queue-operator.ts";

const HOOKS = {
  mutating: "queue-mutating-webhook-configuration",
  validating: "queue-validating-webhook-configuration",
};
const LEASE = { namespace: "queue-system", name: "7e3c1a90.example.org" };
const OLD = "workqueues.v1alpha1.queue.example.org";

export interface QueueScene {
  readonly world: OperatorFixture;
  readonly installation: Installation;
  readonly webhooks: OperatorWebhooks;
  readonly operator: OperatorRun;
  readonly team: Kubectl;
}

export function queueClaims(scene: () => QueueScene): void {
  afterAll(async () => {
    await scene().operator[Symbol.asyncDispose]();
    await scene().webhooks[Symbol.asyncDispose]();
  });
  installed(scene);
  atWork(scene);
  versioned(scene);
  refusing(scene);
  permitted(scene);
  removed(scene);
}

/** Installs and starts the operator. */
export async function beginQueues(world: OperatorFixture): Promise<QueueScene> {
  const team = await world.team("mail");
  const webhooks = await OperatorWebhooks.listen(queueHooks);
  const connect = (): Promise<Connection> => world.connectAs("queue-system", "queue-controller-manager");
  const installation = await install(world, {
    files: ["queue"],
    namespace: "queue-system",
    early: () => team.refused("create", "-f", team.file("early.json", queue("early"))),
    meanwhile: async () => {
      await using connection = await connect();
      await webhooks.inject(connection.client, HOOKS, "trusted");
    },
  });
  const connection = await connect();
  await webhooks.inject(connection.client, HOOKS, "reached");
  await injectConversion(connection.client, webhooks);
  const operator = OperatorRun.start(connection, { controllers: [queues], lease: LEASE });
  return { world, installation, webhooks, operator, team };
}

function queue(name: string, spec: object = {}): object {
  return {
    apiVersion: "queue.example.org/v1",
    kind: "WorkQueue",
    metadata: { name },
    spec: { queueName: name, ...spec },
  };
}

function installed(scene: () => QueueScene): void {
  test("installs, and what is installed again does not change, nor what the operator has written since", () => {
    const { first, second, before, after } = scene().installation;

    expect(new Set(first.map(([, outcome]) => outcome))).toEqual(new Set(["created"]));
    expect(first).toHaveLength(19);
    // kubectl always replaces a budget's selector, and compares rules as a whole, including the server's additions.
    expect(second.filter(([, outcome]) => outcome !== "unchanged")).toEqual([
      ["poddisruptionbudget/queue-controller-manager", "configured"],
      ["mutatingwebhookconfiguration/queue-mutating-webhook-configuration", "configured"],
      ["validatingwebhookconfiguration/queue-validating-webhook-configuration", "configured"],
    ]);
    expect(after).toEqual(before);
  });

  test("can be taken over by server-side apply, without a conflict", () => {
    const { first, takenOver } = scene().installation;

    expect(takenOver).toEqual(first.map(([object]) => [object, "serverside-applied"]));
  });

  test("refuses instances while its webhook does not answer", () => {
    expect(scene().installation.early).toContain(
      'failed calling webhook "mworkqueue-v1.kb.io": failed to call webhook: ' +
        'Post "https://queue-webhook-service.queue-system.svc:443/mutate-queue-example-org-v1-workqueue?timeout=10s": ' +
        'no endpoints available for service "queue-webhook-service"',
    );
  });

  test("is kept from being drained away all at once", async () => {
    const budget = scene().world.kubectl.within("queue-system");

    await budget.ok("wait", "pdb", "--all", "--for=jsonpath={.status.disruptionsAllowed}=1", "--timeout=10s");
    expect(scene().installation.available).toEqual(["queue-controller-manager"]);
  });
}

function atWork(scene: () => QueueScene): void {
  test("makes workers for a queue, and says when they are ready", async () => {
    const { team, operator, world } = scene();
    await holds(world.kubectl, LEASE, operator);
    await team.ok("create", "-f", team.file("in.json", queue("in", { replicas: 2 })));
    await team.ok("wait", "--for=condition=Available", "wq/in", "--timeout=20s");

    const made = await team.json("get", "wq", "in");
    const workers = await team.json("get", "deployment", "in-workers");

    expect(made).toMatchObject({
      metadata: { finalizers: ["queue.example.org/drained"] },
      spec: { priority: 100, visibilityTimeout: "30s", image: "registry.example.com/queue/worker:v0.3.1" },
      status: { replicas: 2, readyReplicas: 2, selector: "queue.example.org/name=in", observedGeneration: 1 },
    });
    expect(workers["metadata"]?.["ownerReferences"]).toMatchObject([
      { kind: "WorkQueue", name: "in", uid: made["metadata"]?.["uid"], controller: true },
    ]);
    expect(table(await team.ok("get", "wq"))).toEqual([
      ["NAME", "REPLICAS", "READY", "AGE"],
      ["in", "2", "2", "AGE"],
    ]);
  });

  test("is scaled by kubectl, in each version", async () => {
    const { team } = scene();
    const ready = (count: number): readonly string[] => [
      "wait",
      "wq/in",
      `--for=jsonpath={.status.readyReplicas}=${String(count)}`,
      "--timeout=20s",
    ];

    await team.ok("scale", "wq", "in", "--replicas=4", "--current-replicas=2");
    await team.ok(...ready(4));
    await team.ok("scale", OLD, "in", "--replicas=1");
    await team.ok(...ready(1));

    expect(await team.refused("scale", "wq", "in", "--replicas=51")).toContain(
      "spec.replicas: Invalid value: 51: spec.replicas in body should be less than or equal to 50",
    );
    const path = "/apis/queue.example.org/v1alpha1/namespaces/mail/workqueues/in/scale";
    expect(JSON.parse(await team.ok("get", "--raw", path))).toMatchObject({
      kind: "Scale",
      spec: { replicas: 1 },
      status: { replicas: 1, selector: "queue.example.org/name=in" },
    });
  });
}

function versioned(scene: () => QueueScene): void {
  test("is served in both versions, whichever it was made in", async () => {
    const { team, webhooks } = scene();
    const old = {
      apiVersion: "queue.example.org/v1alpha1",
      kind: "WorkQueue",
      metadata: { name: "old" },
      spec: { queue: "old", workers: 0, tier: "fast" },
    };

    const { stderr } = await team.run("apply", "-f", team.file("old.json", old));
    const again = await team.ok("apply", "-f", "old.json");

    expect(stderr).toContain("Warning: queue.example.org/v1alpha1 WorkQueue is deprecated");
    expect(again).toBe("workqueue.queue.example.org/old unchanged\n");
    expect((await team.json("get", "wq", "old"))["spec"]).toMatchObject({
      queueName: "old",
      replicas: 0,
      priority: 900,
    });
    expect((await team.json("get", OLD, "in"))["spec"]).toMatchObject({
      queue: "in",
      workers: 1,
      tier: "slow",
    });
    const asked = webhooks.requests("/mutate-queue-example-org-v1-workqueue");
    expect(asked.find(({ requestKind }) => (requestKind["version"] as unknown) === "v1alpha1")).toMatchObject(
      {
        kind: { version: "v1" },
        object: { spec: { queueName: "old" } },
      },
    );
  });

  test("is found by the fields of each version", async () => {
    const { team } = scene();

    expect(await team.ok("get", "wq", "-o", "name", "--field-selector=spec.priority=900")).toBe(
      "workqueue.queue.example.org/old\n",
    );
    expect(await team.ok("get", OLD, "-o", "name", "--field-selector=spec.tier=slow")).toBe(
      "workqueue.queue.example.org/in\n",
    );
    expect(await team.refused("get", "wq", "--field-selector=spec.image=x")).toContain(
      "field label not supported: spec.image",
    );
  });
}

function refusing(scene: () => QueueScene): void {
  test("refuses what its rules and its webhook do not allow, each with its reason", async () => {
    const { team } = scene();
    const items = [
      queue("b1", { visibilityTimeout: "24h" }),
      queue("b2", { deadLetter: { queueName: "b2" } }),
      queue("b3", { replicas: "many" }),
      queue("b4", { unknown: true }),
    ];

    const bad = team.file("bad.yaml", documents(items));
    const refused = await team.refused("create", "-f", bad);
    const changed = await team.refused(
      "patch",
      "wq",
      "in",
      "--type=merge",
      "-p",
      '{"spec":{"queueName":"x"}}',
    );

    for (const why of [
      'spec.visibilityTimeout: Invalid value: "24h": visibilityTimeout is between 0s and 12h, not 24h',
      'admission webhook "vworkqueue-v1.kb.io" denied the request: WorkQueue.queue.example.org is invalid: ' +
        "spec.deadLetter.queueName: Forbidden: a queue is not its own grave",
      'spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"',
      'strict decoding error: unknown field "spec.unknown"',
    ])
      expect(refused).toContain(why);
    expect(changed).toContain("spec.queueName: Forbidden: queueName cannot be changed");
    expect(await team.ok("get", "wq", "-o", "name")).not.toContain("/b");
  });
}

function permitted(scene: () => QueueScene): void {
  test("may be used by editors, and only read by viewers", async () => {
    const { team } = scene();
    const file = team.file("mine.json", queue("mine", { replicas: 0 }));

    expect(await team.refused("create", "-f", file, "--as=viewor")).toContain("(Forbidden)");
    await team.ok("create", "-f", file, "--as=editor");
    await team.ok("scale", "wq", "mine", "--replicas=1", "--as=editor");
    expect(await team.refused("scale", "wq", "mine", "--replicas=2", "--as=viewor")).toContain("(Forbidden)");
    expect(await team.ok("get", "wq", "-o", "name", "--as=viewor")).toContain("/mine");
    const status = ["--subresource=status", "--type=merge", "-p", '{"status":{"replicas":9}}'];
    expect(await team.refused("patch", "wq", "mine", ...status, "--as=editor")).toContain(
      'cannot patch resource "workqueues/status"',
    );
    expect(await team.refused("get", "wq", "--namespace=default", "--as=editor")).toContain("(Forbidden)");
  });

  test("asks the cluster who reads its metrics, and whether they may", async () => {
    const { operator, world } = scene();
    const { client } = operator;
    const queueSystem = world.kubectl.within("queue-system");
    await queueSystem.ok("create", "serviceaccount", "scraper");
    const binding = ["--clusterrole=queue-metrics-reader", "--serviceaccount=queue-system:scraper"];
    await queueSystem.ok("create", "clusterrolebinding", "queue-scraper", ...binding);
    const token = await queueSystem.ok("create", "token", "scraper");

    const who = await review(client, "authentication.k8s.io/v1", "TokenReview", { token: token.trim() });
    const nonResourceAttributes = { path: "/metrics", verb: "get" };
    const may = async (user: string): Promise<unknown> =>
      await review(client, "authorization.k8s.io/v1", "SubjectAccessReview", { user, nonResourceAttributes });

    const user = "system:serviceaccount:queue-system:scraper";
    expect(who).toMatchObject({ status: { authenticated: true, user: { username: user } } });
    expect(await may(user)).toMatchObject({ status: { allowed: true } });
    expect(await may("editor")).toMatchObject({ status: { allowed: false } });
    await queueSystem.ok("delete", "clusterrolebinding", "queue-scraper");
  });

  test("is refused itself what its roles do not give it", async () => {
    const { operator, world } = scene();
    const { client } = operator;
    const before = await world.kubectl.ok("get", "namespaces", "-o", "name");

    const refused = await reasons([
      client(CustomResourceDefinition).list(),
      client(CustomResourceDefinition).delete({ name: "workqueues.queue.example.org" }),
      client(Secret).list({ namespace: "mail" }),
      client(Namespace).create({ metadata: { name: "taken" } }),
      client(Deployment)
        .subresource("status")
        .patch({ namespace: "mail", name: "in-workers" }, { type: "merge", changes: {} }),
    ]);

    expect(refused).toEqual(Array.from({ length: 5 }, () => "Forbidden"));
    expect(await world.kubectl.ok("get", "namespaces", "-o", "name")).toBe(before);
    expect(operator.refusals).toEqual([]);
  });
}

function review(client: Client, apiVersion: string, kind: string, spec: object): Promise<unknown> {
  const path = `/apis/${apiVersion}/${kind.toLowerCase()}s`;
  return client.request({ method: "POST", path, body: { apiVersion, kind, spec } });
}

function removed(scene: () => QueueScene): void {
  test("releases a drained queue and leaves nothing behind, although its webhook does not answer", async () => {
    const { world, team, operator, webhooks } = scene();
    await team.ok("delete", "wq", "--all", "--timeout=15s");
    await operator[Symbol.asyncDispose]();
    const events = await team.ok("get", "events", "--field-selector=reason=Drained", "-o", "name");
    await team.ok("create", "-f", team.file("late.json", queue("late")));
    await webhooks[Symbol.asyncDispose]();
    const late = await team.refused("delete", "wq", "late");

    await world.kubectl.ok("delete", "crd", "workqueues.queue.example.org", "--timeout=10s");
    await scene().installation.remove();

    expect(late).toContain('failed calling webhook "vworkqueue-v1.kb.io"');
    expect(events.trimEnd().split("\n")).toHaveLength(3);
    await expect.poll(() => team.ok("get", "deployments,replicasets,pods", "-o", "name"), SOON).toBe("");
    expect(await world.kubectl.ok("api-resources", "--api-group=queue.example.org", "-o", "name")).toBe("");
  });
}
