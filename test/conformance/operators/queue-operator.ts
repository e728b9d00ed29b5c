/** A small operator of queues: what queue.yaml installs. */
import type { ApiObject } from "../../../src/api/api-object.ts";
import { CustomResourceDefinition } from "../../../src/api/generated/types/apiextensions-v1.ts";
import { Deployment } from "../../../src/api/generated/types/apps-v1.ts";
import type { Condition } from "../../../src/api/generated/types/meta-v1.ts";
import type { Client } from "../../../src/client/client.ts";
import { resourceType } from "../../../src/client/resource-type.ts";
import type { ChildManifest } from "../../../src/runtime/controller/child.ts";
import { withCondition } from "../../../src/runtime/controller/conditions.ts";
import { defineController } from "../../../src/runtime/controller/controller.ts";
import type { ReconcileContext } from "../../../src/runtime/controller/controller.ts";
import type { Behaviour } from "../webhook-server.ts";
import type { OperatorWebhooks } from "./operator-run.ts";

interface WorkQueue extends ApiObject {
  readonly spec: {
    readonly queueName: string;
    readonly replicas: number;
    readonly priority: number;
    readonly image: string;
  };
  readonly status?: {
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly selector?: string;
    readonly conditions?: readonly Condition[];
  };
}

const WorkQueue = resourceType<WorkQueue>({
  apiVersion: "queue.example.org/v1",
  kind: "WorkQueue",
  plural: "workqueues",
  namespaced: true,
});

export const queues = defineController<WorkQueue>({
  name: "workqueue",
  for: WorkQueue,
  owns: [Deployment],
  finalizer: "queue.example.org/drained",
  async reconcile(queue, context) {
    await context.children([workersOf(queue)]);
    await context.updateStatus(queue, statusOf(queue, context));
  },
  async finalize(queue, { event }) {
    event(queue, { type: "Normal", reason: "Drained", message: `${queue.spec.queueName} is empty` });
    await Promise.resolve();
  },
});

function labelsOf({ metadata: { name = "" } }: WorkQueue): Readonly<Record<string, string>> {
  return { "queue.example.org/name": name };
}

function workersOf(queue: WorkQueue): ChildManifest {
  const { replicas, image } = queue.spec;
  const labels = labelsOf(queue);
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: `${queue.metadata.name ?? ""}-workers`, labels },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "worker", image }] } },
    },
  };
}

function statusOf(queue: WorkQueue, { cache, clock }: ReconcileContext): NonNullable<WorkQueue["status"]> {
  const { namespace, name = "", generation } = queue.metadata;
  const workers = cache(Deployment).find({ namespace, name: `${name}-workers` });
  const ready = workers?.status.readyReplicas ?? 0;
  const isReady = ready >= queue.spec.replicas;
  const condition = {
    type: "Available",
    status: isReady ? ("True" as const) : ("False" as const),
    reason: isReady ? "WorkersReady" : "WorkersMissing",
    message: `${String(ready)} of ${String(queue.spec.replicas)} workers are ready`,
  };
  return {
    replicas: workers?.status.replicas ?? 0,
    readyReplicas: ready,
    selector: Object.entries(labelsOf(queue))
      .map(([key, value]) => `${key}=${value}`)
      .join(),
    conditions: withCondition(queue.status?.conditions, condition, {
      now: clock.now(),
      observedGeneration: generation,
    }),
  };
}

/** Writes the address of the conversion webhook into the definition. */
export async function injectConversion(client: Client, webhooks: OperatorWebhooks): Promise<void> {
  const clientConfig = { service: null, ...webhooks.clientConfig("/convert") };
  const changes = { spec: { conversion: { webhook: { clientConfig } } } };
  const name = "workqueues.queue.example.org";
  await client(CustomResourceDefinition).patch({ name }, { type: "merge", changes });
}

/** v1 has numbers where v1alpha1 has two tiers, and other names. An annotation keeps values that v1alpha1 lacks. */
interface Versioned {
  readonly apiVersion: string;
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: Readonly<Record<string, unknown>>;
}

const REST = "queue.example.org/v1";
const PRIORITIES: Readonly<Record<string, number>> = { slow: 100, fast: 900 };

function toOld({ metadata, spec, ...others }: Versioned): Versioned {
  const { queueName, replicas, priority, image, ...rest } = spec;
  const tier = Number(priority ?? 0) >= 500 ? "fast" : "slow";
  const annotations = { ...metadata.annotations, [REST]: JSON.stringify({ ...rest, priority }) };
  const old = { queue: queueName, workers: replicas, tier, ...(image !== undefined && { image }) };
  return { ...others, metadata: { ...metadata, annotations }, spec: old };
}

function toNew({ metadata, spec, ...others }: Versioned): Versioned {
  const { [REST]: kept = "{}", ...annotations } = metadata.annotations ?? {};
  const { priority, ...rest } = JSON.parse(kept) as Readonly<Record<string, unknown>>;
  const { queue, workers, tier, image } = spec;
  const isSameTier = (Number(priority ?? 0) >= 500 ? "fast" : "slow") === tier;
  const fresh = PRIORITIES[String(tier)];
  const changed = {
    ...rest,
    queueName: queue,
    replicas: workers,
    priority: priority !== undefined && isSameTier ? priority : fresh,
    ...(image !== undefined && { image }),
  };
  return { ...others, metadata: { ...metadata, annotations }, spec: changed };
}

const convert: Behaviour = (request) => {
  const { uid, desiredAPIVersion, objects } = request as typeof request & {
    readonly uid: string;
    readonly desiredAPIVersion: string;
    readonly objects: readonly Versioned[];
  };
  const change = desiredAPIVersion.endsWith("/v1") ? toNew : toOld;
  const convertedObjects = objects.map((object) => ({ ...change(object), apiVersion: desiredAPIVersion }));
  const response = { uid, convertedObjects, result: { status: "Success" } };
  const body = { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview", response };
  return { http: { status: 200, body: JSON.stringify(body) } };
};

export const queueHooks: Readonly<Record<string, Behaviour>> = {
  "/mutate-queue-example-org-v1-workqueue": ({ object }) => {
    if (object?.["spec"]?.["image"] !== undefined) return {};
    return { patch: [{ op: "add", path: "/spec/image", value: "registry.example.com/queue/worker:v0.3.1" }] };
  },
  "/validate-queue-example-org-v1-workqueue": ({ object, operation }) => {
    const { queueName, deadLetter } = object?.["spec"] ?? {};
    if (operation === "DELETE" || deadLetter?.["queueName"] !== queueName) return {};
    const message = `WorkQueue.queue.example.org is invalid: spec.deadLetter.queueName: Forbidden: a queue is not its own grave`;
    return { allowed: false, status: { code: 422, reason: "Invalid", message } };
  },
  "/convert": convert,
};
