/** Objects that users of a chaos run create, drawn from few names, so that they interact. */
import type { Manifest } from "../../../src/api/api-object.ts";
import type { DaemonSet, Deployment, StatefulSet } from "../../../src/api/generated/types/apps-v1.ts";
import type { HorizontalPodAutoscaler } from "../../../src/api/generated/types/autoscaling-v2.ts";
import type { CronJob, Job } from "../../../src/api/generated/types/batch-v1.ts";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
  Service,
} from "../../../src/api/generated/types/core-v1.ts";
import type { PodDisruptionBudget } from "../../../src/api/generated/types/policy-v1.ts";
import type { ResourceClaim, ResourceSlice } from "../../../src/api/generated/types/resource-v1.ts";
import type { Random } from "../../../src/base/loop/loop.ts";

export const DRIVER = "gpu.example.com";
export const SIMULATED = "simulated.setpoint.dev/";

type Labels = Readonly<Record<string, string>>;
type PodTemplate = Pick<Manifest<Pod>, "metadata" | "spec">;

export interface Place {
  readonly namespace: string;
  readonly name: string;
}

export function pick<T>(random: Random, items: readonly T[]): T {
  return items[random.below(Math.max(1, items.length))] as T;
}

export function isLucky(random: Random, odds: number): boolean {
  return random.below(odds) === 0;
}

export class Manifests {
  readonly #random: Random;
  #versions = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Another image each time. */
  template(labels: Labels, restartPolicy: "Always" | "Never" = "Always"): PodTemplate {
    const random = this.#random;
    const cpu = pick(random, ["100m", "100m", "500m", "900m"]);
    const memory = pick(random, ["64Mi", "64Mi", "1Gi"]);
    const hostPort = isLucky(random, 12) ? { ports: [{ containerPort: 80, hostPort: 8080 }] } : {};
    const env = isLucky(random, 10) ? { envFrom: [{ configMapRef: { name: "settings" } }] } : {};
    const image = `app:${String(this.#versions++)}`;
    const container = { name: "app", image, resources: { requests: { cpu, memory } }, ...hostPort, ...env };
    const priority = isLucky(random, 8) ? { priorityClassName: "high" } : {};
    const terminationGracePeriodSeconds = pick(random, [0, 1, 30]);
    const claims = isLucky(random, 12)
      ? { resourceClaims: [{ name: "gpu", resourceClaimTemplateName: "gpus" }] }
      : {};
    return {
      metadata: { labels, annotations: this.#behaviour() },
      spec: { containers: [container], restartPolicy, terminationGracePeriodSeconds, ...priority, ...claims },
    } as PodTemplate;
  }

  #behaviour(): Labels {
    const random = this.#random;
    return {
      ...(isLucky(random, 3) && { [`${SIMULATED}ready-after`]: pick(random, ["1s", "5s", "20s"]) }),
      ...(isLucky(random, 4) && { [`${SIMULATED}termination-time`]: pick(random, ["2s", "10s"]) }),
      ...(isLucky(random, 10) && {
        [`${SIMULATED}exit-after`]: "5s",
        [`${SIMULATED}exit-code`]: "1",
        [`${SIMULATED}exit-times`]: "1",
      }),
    };
  }

  deployment(place: Place): Manifest<Deployment> {
    const random = this.#random;
    const labels = { app: place.name };
    const strategy = pick(random, [
      {},
      { type: "Recreate" },
      { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
      { rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } },
    ]);
    return {
      metadata: { ...place, labels },
      spec: {
        replicas: random.below(5),
        selector: { matchLabels: labels },
        strategy,
        minReadySeconds: pick(random, [0, 0, 3]),
        revisionHistoryLimit: pick(random, [0, 2, 10]),
        template: this.template(labels),
      },
    } as Manifest<Deployment>;
  }

  statefulSet(place: Place): Manifest<StatefulSet> {
    const random = this.#random;
    const labels = { app: place.name };
    const storage = { resources: { requests: { storage: "1Gi" } }, accessModes: ["ReadWriteOnce"] };
    const retention = { whenDeleted: "Delete", whenScaled: pick(random, ["Delete", "Retain"]) };
    return {
      metadata: { ...place, labels },
      spec: {
        replicas: random.below(4),
        serviceName: place.name,
        selector: { matchLabels: labels },
        podManagementPolicy: pick(random, ["OrderedReady", "OrderedReady", "Parallel"]),
        ...(isLucky(random, 2) && { persistentVolumeClaimRetentionPolicy: retention }),
        template: this.template(labels),
        ...(isLucky(random, 2) && { volumeClaimTemplates: [{ metadata: { name: "data" }, spec: storage }] }),
      },
    } as Manifest<StatefulSet>;
  }

  daemonSet(place: Place): Manifest<DaemonSet> {
    const labels = { app: place.name };
    const updateStrategy = pick(this.#random, [
      {},
      { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      { type: "OnDelete" },
    ]);
    return {
      metadata: { ...place, labels },
      spec: { selector: { matchLabels: labels }, updateStrategy, template: this.template(labels) },
    } as Manifest<DaemonSet>;
  }

  job(place: Place): Manifest<Job> {
    return { metadata: { ...place, labels: { app: place.name } }, spec: this.#jobSpec() } as Manifest<Job>;
  }

  #jobSpec(): Manifest<Job>["spec"] {
    const random = this.#random;
    const completions = 1 + random.below(5);
    const isIndexed = isLucky(random, 2);
    const template = this.template({ job: "yes" }, "Never");
    const annotations = isLucky(random, 3)
      ? { [`${SIMULATED}exit-code`]: "1", [`${SIMULATED}exit-after`]: "3s" }
      : { [`${SIMULATED}exit-after`]: pick(random, ["1s", "10s", "60s"]) };
    return {
      completions,
      parallelism: 1 + random.below(3),
      completionMode: isIndexed ? "Indexed" : "NonIndexed",
      backoffLimit: random.below(3),
      ...(isIndexed && isLucky(random, 3) && { backoffLimitPerIndex: 1, backoffLimit: 100 }),
      ...(isLucky(random, 4) && { ttlSecondsAfterFinished: random.below(60) }),
      ...(isLucky(random, 6) && { activeDeadlineSeconds: 20 }),
      ...(isLucky(random, 6) && { suspend: true }),
      template: { ...template, metadata: { ...template.metadata, annotations } },
    } as Manifest<Job>["spec"];
  }

  cronJob(place: Place): Manifest<CronJob> {
    const concurrencyPolicy = pick(this.#random, ["Allow", "Forbid", "Replace"]);
    return {
      metadata: place,
      spec: { schedule: "* * * * *", concurrencyPolicy, jobTemplate: { spec: this.#jobSpec() } },
    } as Manifest<CronJob>;
  }

  pod(place: Place): Manifest<Pod> {
    const { metadata, spec } = this.template(
      { app: pick(this.#random, ["web-0", "db-0", place.name]) },
      pick(this.#random, ["Always", "Never"]),
    );
    const claim = isLucky(this.#random, 4)
      ? { resourceClaims: [{ name: "own", resourceClaimName: "claim-0" }] }
      : {};
    const volumes = [{ name: "own", persistentVolumeClaim: { claimName: "own-0" } }];
    if (isLucky(this.#random, 4))
      return { metadata: { ...metadata, ...place }, spec: { ...spec, volumes } } as Manifest<Pod>;
    return { metadata: { ...metadata, ...place }, spec: { ...spec, ...claim } } as Manifest<Pod>;
  }

  service(place: Place): Manifest<Service> {
    const random = this.#random;
    return {
      metadata: place,
      spec: {
        selector: { app: pick(random, ["web-0", "web-1", "db-0", "agent-0"]) },
        ports: [{ name: "http", port: 80, protocol: "TCP" }],
        type: pick(random, ["ClusterIP", "NodePort", "ClusterIP"]),
        ...(isLucky(random, 4) && { publishNotReadyAddresses: true }),
      },
    } as Manifest<Service>;
  }

  budget(place: Place): Manifest<PodDisruptionBudget> {
    const random = this.#random;
    const spared = isLucky(random, 2)
      ? { minAvailable: pick(random, [1, 2, "50%"]) }
      : { maxUnavailable: pick(random, [0, 1, "50%"]) };
    const selector = { matchLabels: { app: pick(random, ["web-0", "web-1", "db-0"]) } };
    return { metadata: place, spec: { selector, ...spared } } as Manifest<PodDisruptionBudget>;
  }

  autoscaler(place: Place): Manifest<HorizontalPodAutoscaler> {
    const name = pick(this.#random, ["web-0", "web-1"]);
    const metrics = [
      {
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
      },
    ];
    return {
      metadata: place,
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
        minReplicas: 1,
        maxReplicas: 3,
        metrics,
      },
    } as Manifest<HorizontalPodAutoscaler>;
  }

  quota(place: Place): Manifest<ResourceQuota> {
    return { metadata: place, spec: { hard: this.hard() } } as Manifest<ResourceQuota>;
  }

  hard(): Readonly<Record<string, string>> {
    const random = this.#random;
    return {
      pods: String(4 + random.below(10)),
      "requests.cpu": pick(random, ["2", "5"]),
      services: String(1 + random.below(3)),
    };
  }

  /** Some volumes are reserved for a claim. */
  volume(name: string): Manifest<PersistentVolume> {
    const random = this.#random;
    const namespace = pick(random, ["default", "team"]);
    return {
      metadata: { name },
      spec: {
        capacity: { storage: pick(random, ["1Gi", "2Gi"]) },
        accessModes: ["ReadWriteOnce"],
        storageClassName: "manual",
        persistentVolumeReclaimPolicy: pick(random, ["Retain", "Delete"]),
        hostPath: { path: "/tmp/chaos" },
        ...(isLucky(random, 3) && { claimRef: { namespace, name: "own-0" } }),
      },
    } as Manifest<PersistentVolume>;
  }

  volumeClaim(place: Place): Manifest<PersistentVolumeClaim> {
    const random = this.#random;
    return {
      metadata: place,
      spec: {
        resources: { requests: { storage: pick(random, ["1Gi", "2Gi"]) } },
        accessModes: ["ReadWriteOnce"],
        ...(isLucky(random, 2) && { storageClassName: "manual" }),
      },
    } as Manifest<PersistentVolumeClaim>;
  }

  claim(place: Place): Manifest<ResourceClaim> {
    return { metadata: place, spec: { devices: DEVICES } } as Manifest<ResourceClaim>;
  }
}

const DEVICES = { requests: [{ name: "one", exactly: { deviceClassName: "gpu" } }] };

/** ResourceSlice of a node, as its driver writes it. */
export function slice(nodeName: string, count: number): Manifest<ResourceSlice> {
  const devices = Array.from({ length: count }, (_, at) => ({ name: `gpu-${String(at)}` }));
  return {
    metadata: { name: `${nodeName}-gpus` },
    spec: {
      driver: DRIVER,
      nodeName,
      pool: { name: nodeName, generation: 1, resourceSliceCount: 1 },
      devices,
    },
  } as Manifest<ResourceSlice>;
}

export const CLAIM_TEMPLATE_SPEC = { spec: { devices: DEVICES } };
