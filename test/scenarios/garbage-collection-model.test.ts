/** Random histories of owners and dependents, compared with a model of the expected remains. */
import { describe, expect, test } from "vitest";
import { ConfigMap, Secret } from "../../src/api/generated/types/core-v1.ts";
import type { OwnerReference } from "../../src/api/generated/types/meta-v1.ts";
import type { Random } from "../../src/base/loop/loop.ts";
import { VirtualLoop } from "../../src/base/loop/virtual/virtual-loop.ts";
import type { ResourceClient } from "../../src/client/client.ts";
import { startCluster } from "../../src/cluster/in-program/start-cluster.ts";
import type { Cluster, RunningLoops } from "../../src/cluster/in-program/start-cluster.ts";
import { garbageCollectorRoutine } from "../../src/controllers/garbage-collector/routine.ts";

const SEEDS = [1, 2, 3, 4, 5, 6];
const STEPS = 60;
const POLICIES = ["Background", "Foreground", "Orphan"] as const;
/** Two kinds, whose changes reach the collector in no order between them. */
const KINDS = [ConfigMap, Secret] as const;

interface Thing {
  readonly type: (typeof KINDS)[number];
  readonly name: string;
  readonly uid: string;
  owners: readonly string[];
}

describe("whatever is created, owned, released and deleted", () => {
  test.each(SEEDS)("exactly that is left which has no owner or one that is left, seed %s", async (seed) => {
    await using cluster = await startCluster({ clock: "virtual", seed, loops: "none", nodes: 0 });
    const history = new History(cluster, new VirtualLoop({ seed }).random("history"));

    for (let step = 0; step < STEPS; step++) {
      const what = await history.step();
      await cluster.settle();
      expect(left(cluster), `step ${String(step)}: ${what}`).toEqual(history.expected());
    }
  });
});

class History {
  readonly #cluster: Cluster;
  readonly #random: Random;
  readonly #things = new Map<string, Thing>();
  #collector: RunningLoops;
  #made = 0;

  constructor(cluster: Cluster, random: Random) {
    this.#cluster = cluster;
    this.#random = random;
    this.#collector = cluster.run({ routines: [garbageCollectorRoutine] });
  }

  expected(): readonly string[] {
    const names = [...this.#things.values()].map(
      ({ name, owners }) =>
        `${name} <- ${owners
          .map((uid) => this.#things.get(uid)?.name ?? "?")
          .toSorted()
          .join()}`,
    );
    return names.toSorted();
  }

  async step(): Promise<string> {
    const chosen = this.#random.below(10);
    if (chosen === 0) return await this.#restart();
    if (this.#things.size < 4 || chosen < 5) return await this.#create();
    return chosen < 7 ? await this.#own() : await this.#delete();
  }

  async #create(): Promise<string> {
    const type = this.#pick(KINDS);
    const owners = this.#pickOwners();
    const name = `t-${String(this.#made++)}`;
    const metadata = { name, ownerReferences: owners.map((owner) => this.#reference(owner)) };
    const { metadata: made } = await this.#client(type).create({ metadata });
    this.#things.set(made.uid, { type, name, uid: made.uid, owners: owners.map(({ uid }) => uid) });
    return `create ${name}`;
  }

  /** May create cycles of owners. */
  async #own(): Promise<string> {
    const thing = this.#pick([...this.#things.values()]);
    const owners = this.#pickOwners();
    const ownerReferences = owners.map((owner) => this.#reference(owner));
    const changes = { metadata: { ownerReferences: ownerReferences.length === 0 ? null : ownerReferences } };
    await this.#client(thing.type).patch({ name: thing.name }, { type: "merge", changes });
    thing.owners = owners.map(({ uid }) => uid);
    return `own ${thing.name}`;
  }

  async #delete(): Promise<string> {
    const thing = this.#pick([...this.#things.values()]);
    const propagationPolicy = this.#pick(POLICIES);
    await this.#client(thing.type).delete({ name: thing.name }, { propagationPolicy });
    this.#things.delete(thing.uid);
    if (propagationPolicy === "Orphan") this.#forget(thing.uid);
    else this.#cascade();
    return `delete ${thing.name} ${propagationPolicy}`;
  }

  async #restart(): Promise<string> {
    await this.#collector.stop();
    this.#collector = this.#cluster.run({ routines: [garbageCollectorRoutine] });
    return "restart";
  }

  #forget(owner: string): void {
    for (const thing of this.#things.values()) thing.owners = thing.owners.filter((uid) => uid !== owner);
  }

  #cascade(): void {
    for (let isDone = false; !isDone;) {
      isDone = true;
      for (const thing of this.#things.values()) {
        const isLost = thing.owners.length > 0 && !thing.owners.some((uid) => this.#things.has(uid));
        if (isLost) this.#things.delete(thing.uid);
        isDone &&= !isLost;
      }
    }
    for (const thing of this.#things.values())
      thing.owners = thing.owners.filter((uid) => this.#things.has(uid));
  }

  /** Client of either kind. */
  #client(type: Thing["type"]): ResourceClient<ConfigMap> {
    return this.#cluster.client(type as typeof ConfigMap);
  }

  #pickOwners(): readonly Thing[] {
    const all = [...this.#things.values()];
    const owners = Array.from({ length: this.#random.below(3) }, () => this.#pick(all));
    return [...new Set(owners)].filter((owner) => owner !== undefined);
  }

  #reference({ type, name, uid }: Thing): OwnerReference {
    const blockOwnerDeletion = this.#random.below(2) === 0;
    return { apiVersion: "v1", kind: type.kind, name, uid, blockOwnerDeletion };
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#random.below(Math.max(1, items.length))] as T;
  }
}

function left(cluster: Cluster): readonly string[] {
  const objects = [...cluster.objects(ConfigMap), ...cluster.objects(Secret)];
  const names = objects.map(({ metadata: { name, ownerReferences = [] } }) => {
    const owners = ownerReferences.map((reference) => reference.name).toSorted();
    return `${name} <- ${owners.join()}`;
  });
  return names.toSorted();
}
