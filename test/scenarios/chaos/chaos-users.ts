/** Users of a chaos run: any action, at any time, on any object. */
import type { ApiObject, Manifest, ResourceType } from "../../../src/api/api-object.ts";
import { isApiError } from "../../../src/api/errors/api-error.ts";
import { DaemonSet, Deployment, ReplicaSet, StatefulSet } from "../../../src/api/generated/types/apps-v1.ts";
import { HorizontalPodAutoscaler } from "../../../src/api/generated/types/autoscaling-v2.ts";
import { CronJob, Job } from "../../../src/api/generated/types/batch-v1.ts";
import {
  ConfigMap,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
  Service,
} from "../../../src/api/generated/types/core-v1.ts";
import { PodDisruptionBudget } from "../../../src/api/generated/types/policy-v1.ts";
import {
  DeviceClass,
  ResourceClaim,
  ResourceClaimTemplate,
  ResourceSlice,
} from "../../../src/api/generated/types/resource-v1.ts";
import { PriorityClass } from "../../../src/api/generated/types/scheduling-v1.ts";
import type { Random } from "../../../src/base/loop/loop.ts";
import type { ResourceClient } from "../../../src/client/client.ts";
import type { ChaosCluster } from "./chaos-cluster.ts";
import {
  CLAIM_TEMPLATE_SPEC,
  DRIVER,
  Manifests,
  SIMULATED,
  isLucky,
  pick,
  slice,
} from "./chaos-manifests.ts";
import type { Place } from "./chaos-manifests.ts";

const NAMESPACES = ["default", "team", "temporary"];
const POLICIES = ["Background", "Foreground", "Orphan"] as const;
const FINALIZER = "example.com/hold";

/** Kinds that users scale, update and delete. */
const WORKLOADS: readonly ResourceType[] = [Deployment, StatefulSet, DaemonSet, Job, CronJob, ReplicaSet];
const DELETABLE: readonly ResourceType[] = [
  ...WORKLOADS,
  Deployment,
  Service,
  PodDisruptionBudget,
  HorizontalPodAutoscaler,
  ResourceQuota,
  ConfigMap,
  PersistentVolumeClaim,
  PersistentVolume,
  ResourceClaim,
];

type Deed = () => Promise<string>;

export class ChaosUsers {
  readonly #world: ChaosCluster;
  readonly #random: Random;
  readonly #manifests: Manifests;
  readonly #deeds: readonly Deed[];

  constructor(world: ChaosCluster) {
    this.#world = world;
    this.#random = world.random;
    this.#manifests = new Manifests(world.random);
    this.#deeds = this.#table().flatMap(([weight, deed]) => Array<Deed>(weight).fill(deed));
  }

  async settleIn(): Promise<void> {
    const { client } = this.#world;
    await client(Namespace).create({ metadata: { name: "team" } });
    await client(PriorityClass).create({ metadata: { name: "high" }, value: 1000 });
    const expression = `device.driver == "${DRIVER}"`;
    const spec = { selectors: [{ cel: { expression } }] };
    await client(DeviceClass).create({ metadata: { name: "gpu" }, spec });
    for (const [at, count] of [1, 2].entries())
      await client(ResourceSlice).create(slice(`node-${String(at + 1)}`, count));
  }

  /** Returns the action, and the error if it was refused. */
  async act(): Promise<string> {
    try {
      for (;;) {
        const told = await pick(this.#random, this.#deeds)();
        if (!told.startsWith("no")) return told;
      }
    } catch (error) {
      if (!isApiError(error)) throw error;
      return `refused: ${error.message}`;
    }
  }

  #table(): readonly (readonly [number, Deed])[] {
    const make = this.#manifests;
    return [
      [6, () => this.#create(Deployment, ["web-0", "web-1", "web-2"], (place) => make.deployment(place))],
      [4, () => this.#create(StatefulSet, ["db-0", "db-1"], (place) => make.statefulSet(place))],
      [3, () => this.#create(DaemonSet, ["agent-0"], (place) => make.daemonSet(place))],
      [5, () => this.#create(Job, ["job-0", "job-1", "job-2"], (place) => make.job(place))],
      [2, () => this.#create(CronJob, ["cron-0"], (place) => make.cronJob(place))],
      [4, () => this.#create(Pod, ["lone-0", "lone-1", "lone-2"], (place) => make.pod(place))],
      [3, () => this.#create(Service, ["svc-0", "svc-1", "svc-2"], (place) => make.service(place))],
      [2, () => this.#create(PodDisruptionBudget, ["pdb-0", "pdb-1"], (place) => make.budget(place))],
      [2, () => this.#create(HorizontalPodAutoscaler, ["hpa-0"], (place) => make.autoscaler(place))],
      [2, () => this.#create(ResourceQuota, ["quota-0"], (place) => make.quota(place))],
      [2, () => this.#create(ResourceClaim, ["claim-0"], (place) => make.claim(place))],
      [3, () => this.#create(PersistentVolume, ["vol-0", "vol-1"], ({ name }) => make.volume(name))],
      [3, () => this.#create(PersistentVolumeClaim, ["own-0", "own-1"], (place) => make.volumeClaim(place))],
      [2, () => this.#create(ConfigMap, ["settings"], (place) => ({ metadata: place }))],
      [
        2,
        () =>
          this.#create(ResourceClaimTemplate, ["gpus"], (metadata) => ({
            metadata,
            spec: CLAIM_TEMPLATE_SPEC,
          })),
      ],
      [7, () => this.#scale()],
      [7, () => this.#update()],
      [3, () => this.#undo()],
      [5, () => this.#tune()],
      [2, () => this.#pause()],
      [2, () => this.#resume()],
      [5, () => this.#delete()],
      [6, () => this.#deletePod()],
      [5, () => this.#evict()],
      [3, () => this.#relabelPod()],
      [3, () => this.#disown()],
      [2, () => this.#hold()],
      [2, () => this.#namespace()],
      [4, () => this.#cordon()],
      [3, () => this.#taint()],
      [4, () => this.#power()],
      [1, () => this.#deleteNode()],
      [2, () => this.#changeService()],
      [1, () => this.#devices()],
    ];
  }

  #place(names: readonly string[]): Place {
    return { namespace: pick(this.#random, NAMESPACES), name: pick(this.#random, names) };
  }

  async #create<T extends ApiObject>(
    type: ResourceType<T>,
    names: readonly string[],
    manifest: (place: Place) => Manifest<T>,
  ): Promise<string> {
    const place = this.#place(names);
    await this.#world.client(type).create(manifest(place));
    return `create ${type.kind} ${place.namespace}/${place.name}`;
  }

  #one<T extends ApiObject>(type: ResourceType<T>): T | undefined {
    const found = this.#world
      .objects(type)
      .filter(({ metadata: { namespace } }) => !type.namespaced || NAMESPACES.includes(namespace ?? ""));
    return found.length === 0 ? undefined : pick(this.#random, found);
  }

  async #merge(type: ResourceType, object: ApiObject, changes: unknown): Promise<string> {
    await this.#client(type).patch(object, { type: "merge", changes });
    return `change ${named(object)} ${JSON.stringify(changes)}`;
  }

  #client(type: ResourceType): ResourceClient<ApiObject> {
    return this.#world.client(type);
  }

  async #scale(): Promise<string> {
    const type = pick<ResourceType>(this.#random, [Deployment, Deployment, StatefulSet, ReplicaSet]);
    const object = this.#one(type);
    if (object === undefined) return "nothing to scale";
    const replicas = this.#random.below(6);
    await this.#client(type).scale(object, replicas);
    return `scale ${named(object)} to ${String(replicas)}`;
  }

  async #update(): Promise<string> {
    const type = pick<ResourceType>(this.#random, [Deployment, Deployment, StatefulSet, DaemonSet]);
    const object = this.#one(type);
    if (object === undefined) return "nothing to update";
    const template = this.#manifests.template({ app: object.metadata.name ?? "" });
    return await this.#merge(type, object, { spec: { template } });
  }

  /** Like `kubectl rollout undo`. */
  async #undo(): Promise<string> {
    const deployment = this.#one(Deployment);
    if (deployment === undefined) return "nothing to undo";
    const { uid, namespace, name } = deployment.metadata;
    const sets = this.#world
      .objects(ReplicaSet, namespace)
      .filter(({ metadata }) => metadata.ownerReferences?.[0]?.uid === uid);
    if (sets.length === 0) return "nothing to undo";
    const { template } = pick(this.#random, sets).spec;
    const { "pod-template-hash": _hash, ...labels } = template.metadata.labels ?? {};
    const value = { ...template, metadata: { ...template.metadata, labels } };
    const patch = [{ op: "replace", path: "/spec/template", value } as const];
    await this.#client(Deployment).patch(deployment, { type: "json", operations: patch });
    return `undo ${namespace ?? ""}/${name} to ${template.spec.containers[0]?.image ?? ""}`;
  }

  /** Changes numbers that limit others. */
  async #tune(): Promise<string> {
    const random = this.#random;
    const specs: readonly (readonly [ResourceType, unknown])[] = [
      [ResourceQuota, { hard: this.#manifests.hard() }],
      [HorizontalPodAutoscaler, { minReplicas: 1 + random.below(2), maxReplicas: 2 + random.below(4) }],
      [PodDisruptionBudget, { minAvailable: null, maxUnavailable: random.below(3) }],
      [Job, { parallelism: random.below(4) }],
      [CronJob, { concurrencyPolicy: pick(random, ["Allow", "Forbid", "Replace"]) }],
    ];
    const [type, spec] = pick(random, specs);
    const object = this.#one(type);
    if (object === undefined) return "nothing to tune";
    return await this.#merge(type, object, { spec });
  }

  async #pause(): Promise<string> {
    const type = pick<ResourceType>(this.#random, [Deployment, Job, CronJob]);
    const object = this.#one(type);
    if (object === undefined) return "nothing to pause";
    return await this.#merge(type, object, {
      spec: type === Deployment ? { paused: true } : { suspend: true },
    });
  }

  async #resume(): Promise<string> {
    const type = pick<ResourceType>(this.#random, [Deployment, Job, CronJob]);
    const object = this.#one(type);
    if (object === undefined) return "nothing to resume";
    return await this.#merge(type, object, {
      spec: type === Deployment ? { paused: null } : { suspend: false },
    });
  }

  async #delete(): Promise<string> {
    const type = pick(this.#random, DELETABLE);
    const object = this.#one(type);
    if (object === undefined) return `no ${type.kind} to delete`;
    const propagationPolicy = pick(this.#random, POLICIES);
    await this.#client(type).delete(object, { propagationPolicy });
    return `delete ${named(object)} ${propagationPolicy}`;
  }

  async #deletePod(): Promise<string> {
    const pod = this.#one(Pod);
    if (pod === undefined) return "no pod to delete";
    const options = isLucky(this.#random, 3) ? { gracePeriodSeconds: 0 } : {};
    await this.#world.client(Pod).delete(pod, options);
    return `delete ${named(pod)} ${JSON.stringify(options)}`;
  }

  async #evict(): Promise<string> {
    const pod = this.#one(Pod);
    if (pod === undefined) return "no pod to evict";
    const { name, namespace } = pod.metadata;
    const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name, namespace } };
    await this.#world.client(Pod).subresource("eviction").create(pod, body);
    return `evict ${named(pod)}`;
  }

  /** Relabels a pod: its controller releases it, and adopts it again, or another controller does. */
  async #relabelPod(): Promise<string> {
    const pod = this.#one(Pod);
    if (pod === undefined) return "no pod to relabel";
    const app = pick(this.#random, ["web-0", "db-0", "agent-0", "lost"]);
    return await this.#merge(Pod, pod, { metadata: { labels: { app } } });
  }

  async #disown(): Promise<string> {
    const type = pick<ResourceType>(this.#random, [Pod, ReplicaSet, Job]);
    const object = this.#one(type);
    if (object === undefined) return "nothing to disown";
    return await this.#merge(type, object, { metadata: { ownerReferences: null } });
  }

  /** Adds a finalizer to an object, or removes it. */
  async #hold(): Promise<string> {
    const type = pick<ResourceType>(this.#random, [Pod, ReplicaSet, Deployment, Job, ConfigMap]);
    const object = this.#one(type);
    if (object === undefined) return "nothing to hold";
    return await this.#changeFinalizers(type, object, "turn");
  }

  async #changeFinalizers(type: ResourceType, object: ApiObject, how: "turn" | "drop"): Promise<string> {
    const { finalizers = [], resourceVersion } = object.metadata;
    const others = finalizers.filter((name) => name !== FINALIZER);
    const isHeld = others.length < finalizers.length;
    if (!isHeld && how === "drop") return "";
    const wanted = isHeld ? others : [...others, FINALIZER];
    return await this.#merge(type, object, { metadata: { resourceVersion, finalizers: wanted } });
  }

  async #namespace(): Promise<string> {
    const { client } = this.#world;
    const name = "temporary";
    if ((await client(Namespace).find({ name })) === undefined) {
      await client(Namespace).create({ metadata: { name } });
      return "create the namespace";
    }
    await client(Namespace).delete({ name });
    return "delete the namespace";
  }

  async #cordon(): Promise<string> {
    const node = this.#one(Node);
    if (node === undefined) return "no node";
    return await this.#merge(Node, node, {
      spec: { unschedulable: node.spec.unschedulable === true ? null : true },
    });
  }

  async #taint(): Promise<string> {
    const node = this.#one(Node);
    if (node === undefined) return "no node";
    const { taints = [] } = node.spec;
    const others = taints.filter(({ key }) => key !== "example.com/bad");
    const effect = pick(this.#random, ["NoExecute", "NoSchedule"]);
    const wanted = others.length < taints.length ? others : [...others, { key: "example.com/bad", effect }];
    const { resourceVersion } = node.metadata;
    return await this.#merge(Node, node, { metadata: { resourceVersion }, spec: { taints: wanted } });
  }

  async #power(): Promise<string> {
    const nodes = this.#world.objects(Node);
    const down = nodes.find(({ metadata }) => metadata.annotations?.[`${SIMULATED}down`] !== undefined);
    const node = isLucky(this.#random, 2) ? (down ?? this.#one(Node)) : this.#one(Node);
    if (node === undefined) return "no node";
    const isDown = node.metadata.annotations?.[`${SIMULATED}down`] !== undefined;
    return await this.#merge(Node, node, {
      metadata: { annotations: { [`${SIMULATED}down`]: isDown ? null : "true" } },
    });
  }

  async #deleteNode(): Promise<string> {
    const node = this.#one(Node);
    if (node === undefined) return "no node";
    await this.#world.client(Node).delete(node);
    return `delete ${named(node)}`;
  }

  async #changeService(): Promise<string> {
    const service = this.#one(Service);
    if (service === undefined || service.metadata.name === "kubernetes") return "no service";
    const app = pick(this.#random, ["web-0", "web-1", "db-0", "agent-0"]);
    const type = pick(this.#random, ["ClusterIP", "NodePort"]);
    return await this.#merge(Service, service, { spec: { selector: { app }, type } });
  }

  /** Adds or removes a driver. */
  async #devices(): Promise<string> {
    const { client } = this.#world;
    const found = this.#one(ResourceSlice);
    if (found !== undefined && isLucky(this.#random, 2)) {
      await client(ResourceSlice).delete(found);
      return `delete ${named(found)}`;
    }
    await client(ResourceSlice).create(
      slice(`node-${String(1 + this.#random.below(3))}`, 1 + this.#random.below(2)),
    );
    return "create devices";
  }

  /** Ends the users' work: no finalizer, quota, budget or pause blocks anything afterwards. */
  async goHome(): Promise<void> {
    const { client, objects } = this.#bound();
    const hard = { pods: "1000", "requests.cpu": "1000", services: "1000" };
    for (const quota of objects(ResourceQuota)) await this.#merge(ResourceQuota, quota, { spec: { hard } });
    for (const cron of objects(CronJob)) await this.#merge(CronJob, cron, { spec: { suspend: true } });
    for (const type of [Pod, ReplicaSet, Deployment, Job, ConfigMap] as readonly ResourceType[])
      for (const object of objects(type)) await this.#released(type, object.metadata);
    for (const node of objects(Node)) {
      const taints = (node.spec.taints ?? []).filter(({ key }) => key !== "example.com/bad");
      const metadata = { annotations: { [`${SIMULATED}down`]: null } };
      await this.#merge(Node, node, { metadata, spec: { unschedulable: null, taints } });
    }
    for (const { metadata } of objects(Namespace)) {
      const settings = { name: "settings", namespace: metadata.name };
      if (NAMESPACES.includes(metadata.name) && metadata.deletionTimestamp === undefined)
        await client(ConfigMap).apply({ metadata: settings });
    }
  }

  #bound(): Pick<ChaosCluster, "client" | "objects"> {
    return { client: this.#world.client, objects: (type, namespace) => this.#world.objects(type, namespace) };
  }

  async #released(type: ResourceType, { name = "", namespace }: ApiObject["metadata"]): Promise<void> {
    for (;;) {
      const object = await this.#client(type).find({ name, namespace });
      if (object === undefined) return;
      try {
        await this.#changeFinalizers(type, object, "drop");
        return;
      } catch (error) {
        if (!isApiError(error, "Conflict") && !isApiError(error, "NotFound")) throw error;
      }
    }
  }
}

function named({ kind, metadata: { namespace, name } }: ApiObject): string {
  return `${kind} ${namespace ?? ""}/${name}`;
}
