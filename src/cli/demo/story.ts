/** The story of the demo, scene by scene. Each scene says what is desired, what is, and what the loops did. */
import { Deployment, ReplicaSet } from "../../api/generated/types/apps-v1.ts";
import { ConfigMap, Node, Pod, ServiceAccount } from "../../api/generated/types/core-v1.ts";
import { child } from "../../runtime/controller/child.ts";
import { defineController, type Controller } from "../../runtime/controller/controller.ts";
import type { Stage } from "./stage.ts";

export interface Scene {
  readonly name: string;
  play(stage: Stage): Promise<void>;
}

export const STORY: readonly Scene[] = [
  {
    name: "declare",
    async play(stage) {
      await stage.begin("1. You declare a wish", "Deployment web with 3 pods");
      await stage.deploy("web", 3);
      await stage.settle();
      await stage.tell(8);
    },
  },
  {
    name: "heal",
    async play(stage) {
      await stage.begin("2. You delete a pod", "still 3 pods: nothing changed the wish");
      await stage.client(Pod).delete({ name: nameOf(stage.cluster.objects(Pod, "default")[0]) });
      await stage.settle();
      const youngest = stage.cluster
        .objects(Pod, "default")
        .toSorted((left, right) => (createdAt(left) < createdAt(right) ? 1 : -1))[0];
      await stage.why({ type: Pod, namespace: "default", name: nameOf(youngest) });
    },
  },
  {
    name: "node",
    async play(stage) {
      await stage.begin(
        "3. A node dies, and fifty pods move (time runs faster from here)",
        "150 pods on 3 nodes",
      );
      await stage.client(Deployment).scale({ name: "web" }, 150);
      await stage.settle();
      await powerOf(stage, "node-2", false);
      await stage.say("  node-2 loses its power and stops reporting");
      await stage.cluster.until(() => isNodeUnknown(stage, "node-2"), { within: "5m" });
      await stage.cluster.clock.advance("1s");
      await stage.showPods();
      await stage.say("  its pods stay for five minutes, because most outages are short");
      await stage.cluster.until(() => evicted(stage).length > 0, { within: "10m" });
      await stage.cluster.clock.advance("2s");
      await stage.say(
        `  then ${String(evicted(stage).length)} pods are replaced at the same moment: a thundering herd`,
      );
      await stage.showPods();
      await powerOf(stage, "node-2", true);
      await stage.client(Deployment).scale({ name: "web" }, 3);
      await stage.settle();
    },
  },
  {
    name: "crash",
    async play(stage) {
      await stage.begin("4. A controller is killed in the middle of its work", "5 parts of the machine");
      await stage.client(ServiceAccount).create({ metadata: { name: "machine" } });
      const first = stage.cluster.run({ controllers: [assembler(2)] }, "assembler");
      await stage.cluster.until(() => parts(stage) === 2, { within: "1m" });
      first.kill();
      await stage.say(`  is       ${String(parts(stage))} of 5 parts; the controller was killed`);
      await stage.cluster.clock.advance("1m");
      const second = stage.cluster.run({ controllers: [assembler(5)] }, "assembler");
      await stage.cluster.until(() => parts(stage) === 5, { within: "1m" });
      await stage.say(
        `  is       ${String(parts(stage))} of 5 parts: a new one saw what was missing, and made only that`,
      );
      await second.stop();
    },
  },
  {
    name: "fight",
    async play(stage) {
      await stage.begin(
        "5. Two writers fight over one field",
        "valve open, says one; valve shut, says the other",
      );
      await stage.client(ConfigMap).create({ metadata: { name: "valve" }, data: { position: "open" } });
      const controllers = [keeping("opener", "open"), keeping("shutter", "shut")];
      const running = stage.cluster.run({ controllers }, "writers");
      await stage.cluster.clock.advance("2m");
      for (const part of stage.loggedParts("does not settle")) await stage.say(`  log      ${part}`);
      await stage.say("  both are named and slowed down, so that they do not slow down the others");
      await running.stop();
    },
  },
  {
    name: "back-off",
    async play(stage) {
      await stage.begin("6. A program crashes again and again", "one pod that keeps running");
      await stage.client(Pod).create({
        metadata: { name: "crash", annotations: { "simulated.setpoint.dev/exit-code": "1" } },
        spec: { containers: [{ name: "app", image: "app" }] },
      });
      for (let restart = 1, last = stage.cluster.clock.now(); restart <= 5; restart++) {
        await stage.cluster.until(() => restarts(stage, "crash") >= restart, { within: "10m" });
        const now = stage.cluster.clock.now();
        await stage.say(
          `  did      restart ${String(restart)} after ${String(Math.round((now - last) / 1000))} s`,
        );
        last = now;
      }
      await stage.cluster.clock.advance("5s");
      await stage.why({ type: Pod, namespace: "default", name: "crash" }, 8);
      await stage.client(Pod).delete({ name: "crash" });
      await stage.cluster.clock.advance("1m");
    },
  },
  {
    name: "impossible",
    async play(stage) {
      await stage.begin("7. You wish for something impossible", "a pod with 100 CPUs");
      const resources = { requests: { cpu: "100" } };
      await stage.client(Pod).create({
        metadata: { name: "giant" },
        spec: { containers: [{ name: "app", image: "app", resources }] },
      });
      await stage.cluster.clock.advance("5s");
      await stage.why({ type: Pod, namespace: "default", name: "giant" }, 10);
      await stage.client(Pod).delete({ name: "giant" });
      await stage.cluster.clock.advance("10s");
    },
  },
  {
    name: "finalizer",
    async play(stage) {
      await stage.begin("8. A finalizer holds a deletion back", "the bucket is gone");
      const finalizers = ["example.com/empty-first"];
      await stage.client(ConfigMap).create({ metadata: { name: "bucket", finalizers } });
      await stage.client(ConfigMap).delete({ name: "bucket" });
      await stage.cluster.clock.advance("30s");
      await stage.why({ type: ConfigMap, namespace: "default", name: "bucket" }, 10);
      const changes = { metadata: { finalizers: null } };
      await stage.client(ConfigMap).patch({ name: "bucket" }, { type: "merge", changes });
      const isGone = stage.cluster
        .objects(ConfigMap, "default")
        .every(({ metadata }) => metadata.name !== "bucket");
      await stage.say(`  is       ${isGone ? "gone, once the finalizer was removed" : "still there"}`);
    },
  },
  {
    name: "delete",
    async play(stage) {
      await stage.begin("9. You delete a Deployment, and keep its pods", "no Deployment; orphans stay");
      await stage.client(Deployment).delete({ name: "web" }, { propagationPolicy: "Orphan" });
      await stage.settle();
      await stage.begin("   … and now what is left of it", "nothing");
      for (const { metadata } of stage.cluster.objects(ReplicaSet, "default"))
        await stage.client(ReplicaSet).delete({ name: metadata.name });
      await stage.settle();
      await stage.tell(6);
    },
  },
];

function nameOf(pod: Pod | undefined): string {
  return pod?.metadata.name ?? "";
}

function createdAt({ metadata }: Pod): string {
  return `${metadata.creationTimestamp} ${metadata.resourceVersion.padStart(12, "0")}`;
}

async function powerOf({ client }: Stage, name: string, isOn: boolean): Promise<void> {
  const annotations = { "simulated.setpoint.dev/down": isOn ? null : "true" };
  await client(Node).patch({ name }, { type: "merge", changes: { metadata: { annotations } } });
}

function isNodeUnknown({ cluster }: Stage, name: string): boolean {
  return cluster
    .objects(Node)
    .some(
      ({ metadata, status }) =>
        metadata.name === name &&
        status?.conditions?.some(
          (condition) => condition.type === "Ready" && condition.status === "Unknown",
        ) === true,
    );
}

function evicted({ cluster }: Stage): readonly Pod[] {
  return cluster.objects(Pod, "default").filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
}

function restarts({ cluster }: Stage, name: string): number {
  const pod = cluster.objects(Pod, "default").find(({ metadata }) => metadata.name === name);
  return pod?.status?.containerStatuses?.[0]?.restartCount ?? 0;
}

function parts({ cluster }: Stage): number {
  return cluster.objects(ConfigMap, "default").filter(({ metadata }) => metadata.name.startsWith("part-"))
    .length;
}

/** Keeps five parts, and never comes further than `reach`: a kill at that moment is a kill in the middle of a pass. */
function assembler(reach: number): Controller {
  return defineController<ServiceAccount>({
    name: "assembler",
    for: ServiceAccount,
    owns: [ConfigMap],
    async reconcile({ metadata }, { children, signal }) {
      if (metadata.name !== "machine") return;
      const names = [1, 2, 3, 4, 5].slice(0, reach).map((number) => `part-${String(number)}`);
      await children(names.map((name) => child(ConfigMap, { metadata: { name } })));
      if (reach < 5) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  });
}

function keeping(name: string, position: string): Controller {
  return defineController<ConfigMap>({
    name,
    for: ConfigMap,
    async reconcile({ metadata, data }, { client }) {
      if (metadata.name !== "valve" || data?.["position"] === position) return;
      await client(ConfigMap).patch(
        { namespace: "default", name: "valve" },
        { type: "merge", changes: { data: { position } } },
      );
    },
  });
}
