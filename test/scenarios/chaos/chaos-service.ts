/**
 * A run in which only the control plane breaks, while users make harmless changes at any time: update, undo, pause, drain. Clients of the
 * workloads must not notice, at any revision.
 */
import type { ApiObject, ResourceType } from "../../../src/api/api-object.ts";
import { isApiError } from "../../../src/api/errors/api-error.ts";
import { DaemonSet, Deployment, ReplicaSet, StatefulSet } from "../../../src/api/generated/types/apps-v1.ts";
import { Job } from "../../../src/api/generated/types/batch-v1.ts";
import { Pod } from "../../../src/api/generated/types/core-v1.ts";
import { PodDisruptionBudget } from "../../../src/api/generated/types/policy-v1.ts";
import { incomplete } from "../../../src/api/object-fixture.ts";
import { ChaosCluster, PARTS } from "./chaos-cluster.ts";
import { brokenCounts } from "./chaos-counts.ts";
import { disturb, heal } from "./chaos-faults.ts";
import { interruptions } from "./chaos-interruptions.ts";
import { brokenInvariants } from "./chaos-invariants.ts";
import { isLucky, pick, SIMULATED } from "./chaos-manifests.ts";
import type { ChaosOptions, ChaosResult } from "./chaos-run.ts";
import { wrongWhenSettled } from "./chaos-settled.ts";

const namespace = "default";
const PAUSES_MS = [0, 50, 500, 2000, 5000, 20_000];
const STRATEGIES = [
  { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
  { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
  { rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } },
  { rollingUpdate: { maxSurge: "50%", maxUnavailable: "25%" } },
];
const DAEMON_STRATEGIES = [
  { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
  { rollingUpdate: { maxUnavailable: 1 } },
];
const BUDGETS = [{ minAvailable: 2 }, { maxUnavailable: 1 }, { minAvailable: "50%" }];
const FRAGILE = PARTS.filter((part) => part !== "nodes");

/** No action of users may interrupt a service here. */
export async function runService({ seed, deeds, restMs }: ChaosOptions): Promise<ChaosResult> {
  await using world = await ChaosCluster.open(seed, 1 + (seed % 2));
  const { history, random, complaints } = world;
  const staff = new Staff(world);
  await staff.install();
  await world.advance(120_000);
  const [started, first] = [world.now(), history.changes.length];
  const log: string[] = [];
  for (let count = 0; count < deeds; count++) {
    log.push(`${String(history.revision)} +${String(world.now() - started)} ${await staff.act()}`);
    if (isLucky(random, 3)) log.push(`   ${await disturb(world, FRAGILE)}`);
    await world.advance(pick(random, PAUSES_MS));
  }
  await heal(world);
  await staff.goHome();
  await world.advance(restMs);
  const broken = [
    ...interruptions(history.changes, first),
    ...brokenInvariants(history.changes),
    ...brokenCounts(history.changes),
    ...wrongWhenSettled(history.left()),
    ...complaints.filter((line) => line.includes(" ended: ")),
  ];
  return { broken, log, complaints, changes: history.changes, started };
}

class Staff {
  readonly #world: ChaosCluster;
  #versions = 0;

  constructor(world: ChaosCluster) {
    this.#world = world;
  }

  async install(): Promise<void> {
    const { client, random } = this.#world;
    for (const name of ["web-0", "web-1", "guarded-0", "guarded-1"]) {
      const labels = { app: name };
      const spec = { replicas: 2 + random.below(4), selector: { matchLabels: labels } };
      const strategy = pick(random, STRATEGIES) as Deployment["spec"]["strategy"];
      const manifest = { ...spec, strategy, template: this.#template(name) };
      await client(Deployment).create({ metadata: { name, namespace }, spec: manifest });
    }
    for (const name of ["guarded-0", "guarded-1"]) {
      const spec = { selector: { matchLabels: { app: name } }, ...pick(random, BUDGETS) };
      await client(PodDisruptionBudget).create({ metadata: { name, namespace }, spec });
    }
    const selector = { matchLabels: { app: "db-0" } };
    const template = this.#template("db-0");
    const set = { replicas: 3, serviceName: "db-0", selector, template };
    await client(StatefulSet).create({ metadata: { name: "db-0", namespace }, spec: set });
    const updateStrategy = pick(random, DAEMON_STRATEGIES);
    const daemons = { selector: { matchLabels: { app: "agent-0" } }, template: this.#template("agent-0") };
    const metadata = { name: "agent-0", namespace };
    await client(DaemonSet).create({ metadata, spec: { ...daemons, updateStrategy } });
  }

  async act(): Promise<string> {
    const deeds = [
      () => this.#update(Deployment, ["web-0", "web-1"]),
      () => this.#update(Deployment, ["web-0", "web-1"]),
      () => this.#update(StatefulSet, ["db-0"]),
      () => this.#updateDaemons(),
      () => this.#undo(),
      () => this.#pause(),
      () => this.#evict(),
      () => this.#evict(),
      () => this.#evict(),
      () => this.#job(),
    ];
    try {
      return await pick(this.#world.random, deeds)();
    } catch (error) {
      if (!isApiError(error)) throw error;
      return `refused: ${error.message}`;
    }
  }

  async goHome(): Promise<void> {
    for (const name of ["web-0", "web-1"]) await this.#merge(Deployment, name, { paused: null });
  }

  /** Template of pods that never fail. */
  #template(app: string): Pod {
    const { random } = this.#world;
    const annotations = { [`${SIMULATED}ready-after`]: pick(random, ["0s", "1s", "5s"]) };
    const containers = [{ name: "app", image: `app:${String(this.#versions++)}` }];
    const terminationGracePeriodSeconds = pick(random, [0, 1, 30]);
    const metadata = { labels: { app }, annotations };
    return incomplete<Pod>({ metadata, spec: { containers, terminationGracePeriodSeconds } });
  }

  async #merge(type: ResourceType, name: string, spec: unknown): Promise<string> {
    await this.#world.client(type).patch({ name, namespace }, { type: "merge", changes: { spec } });
    return `change ${type.kind} ${name} ${JSON.stringify(spec)}`;
  }

  async #update(type: ResourceType, names: readonly string[]): Promise<string> {
    const name = pick(this.#world.random, names);
    return await this.#merge(type, name, { template: this.#template(name) });
  }

  /** As upstream, an old pod that does not serve is deleted beside pods that may be missing: so the last update must be complete. */
  async #updateDaemons(): Promise<string> {
    const [set] = this.#world.objects(DaemonSet, namespace);
    const { desiredNumberScheduled = 0, updatedNumberScheduled, numberAvailable } = set?.status ?? {};
    const isThrough = [updatedNumberScheduled, numberAvailable].every(
      (each) => each === desiredNumberScheduled,
    );
    if (!isThrough || set?.status.observedGeneration !== set?.metadata.generation)
      return "no daemons are updated";
    return await this.#update(DaemonSet, ["agent-0"]);
  }

  async #undo(): Promise<string> {
    const { random, client } = this.#world;
    const name = pick(random, ["web-0", "web-1"]);
    const sets = this.#world.objects(ReplicaSet, namespace).filter((set) => ownerName(set) === name);
    if (sets.length === 0) return "nothing to undo";
    const { template } = pick(random, sets).spec;
    const { "pod-template-hash": _hash, ...labels } = template.metadata.labels ?? {};
    const value = { ...template, metadata: { ...template.metadata, labels } };
    const operations = [{ op: "replace", path: "/spec/template", value } as const];
    await client(Deployment).patch({ name, namespace }, { type: "json", operations });
    return `undo ${name} to ${template.spec.containers[0]?.image ?? ""}`;
  }

  async #pause(): Promise<string> {
    const { random } = this.#world;
    return await this.#merge(Deployment, pick(random, ["web-0", "web-1"]), {
      paused: pick(random, [true, null, null]),
    });
  }

  async #evict(): Promise<string> {
    const { random, client, objects } = this.#bound();
    const guarded = objects(Pod, namespace).filter((pod) =>
      pod.metadata.labels?.["app"]?.startsWith("guarded"),
    );
    if (guarded.length === 0) return "nobody to evict";
    const pod = pick(random, guarded);
    const { name } = pod.metadata;
    const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace } };
    await client(Pod).subresource("eviction").create(pod, body);
    return `evict ${name}`;
  }

  async #job(): Promise<string> {
    const { random, client } = this.#world;
    const name = `job-${String(this.#versions++)}`;
    const containers = [{ name: "app", image: "app" }];
    const annotations = {
      [`${SIMULATED}exit-after`]: pick(random, ["0s", "2s", "20s"]),
      [`${SIMULATED}exit-code`]: pick(random, ["0", "0", "1"]),
    };
    const template = { metadata: { annotations }, spec: { containers, restartPolicy: "Never" as const } };
    const completions = 1 + random.below(4);
    const parallelism = 1 + random.below(3);
    const spec = { completions, parallelism, backoffLimit: random.below(3), template };
    await client(Job).create({ metadata: { name, namespace }, spec });
    return `create ${name}`;
  }

  #bound(): Pick<ChaosCluster, "random" | "client" | "objects"> {
    const { random, client } = this.#world;
    return { random, client, objects: (type, from) => this.#world.objects(type, from) };
  }
}

function ownerName({ metadata }: ApiObject): string | undefined {
  return metadata.ownerReferences?.[0]?.name;
}
