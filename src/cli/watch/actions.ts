/** Requests that the user's keys make. Each returns one line about its outcome, or rejects. */
import type { ResourceType } from "../../api/api-object.ts";
import { Node, Pod } from "../../api/generated/types/core-v1.ts";
import type { OwnerReference } from "../../api/generated/types/meta-v1.ts";
import type { Client } from "../../client/client.ts";
import { explainObject } from "../../insight/explain/explain-object.ts";
import { explanationText } from "../../insight/explain/explanation-text.ts";
import { findServedKind } from "../../insight/served-kind.ts";
import type { PodReference, WhyAction } from "./view.ts";
import { DOWN } from "./watched-objects.ts";

/** Levels of owners above a pod: a ReplicaSet, a Deployment, and one for operators. */
const LEVELS_MAX = 3;

export async function killPod(client: Client, { uid, namespace, name }: PodReference): Promise<string> {
  await client(Pod).delete({ namespace, name }, { preconditions: { uid } });
  return `deleted Pod ${namespace}/${name}`;
}

export async function switchPower(client: Client, name: string, isOn: boolean): Promise<string> {
  const changes = { metadata: { annotations: { [DOWN]: isOn ? null : "true" } } };
  await client(Node).patch({ name }, { type: "merge", changes });
  return isOn
    ? `${name} has power again`
    : `${name} has no power: NotReady in about 40 s, its pods are replaced 5 min later; f switches it on again`;
}

export async function scaleOwner(client: Client, pod: PodReference, by: number): Promise<string> {
  const { type, object } = await findScaled(client, pod);
  const { namespace = "", name = "" } = object.metadata;
  const before = object.spec.replicas;
  const after = Math.max(0, before + by);
  if (after === before) return `${type.kind} ${name} has ${String(before)} replicas`;
  await client(type).scale({ namespace, name }, after);
  return `scaled ${type.kind} ${namespace}/${name}: ${String(before)} → ${String(after)}`;
}

interface Scaled {
  readonly type: ResourceType;
  readonly object: {
    readonly metadata: { readonly namespace?: string; readonly name?: string };
    readonly spec: { readonly replicas: number };
  };
}

/** The topmost owner with replicas: what scales a ReplicaSet is its Deployment. */
async function findScaled(client: Client, { namespace, name }: PodReference): Promise<Scaled> {
  let found: Scaled | undefined;
  let owner = controllerOf((await client(Pod).get({ namespace, name })).metadata);
  for (let level = 0; level < LEVELS_MAX && owner !== undefined; level++) {
    const type = await client.findType(owner.apiVersion, owner.kind);
    const object = type && (await client(type).find({ namespace, name: owner.name }));
    if (type === undefined || object === undefined) break;
    const { spec } = object as { readonly spec?: { readonly replicas?: number } };
    if (spec?.replicas !== undefined)
      found = { type, object: { metadata: object.metadata, spec: { replicas: spec.replicas } } };
    owner = controllerOf(object.metadata);
  }
  if (found === undefined) throw new Error(`Pod ${namespace}/${name} has no owner with replicas`);
  return found;
}

function controllerOf({
  ownerReferences = [],
}: {
  readonly ownerReferences?: readonly OwnerReference[];
}): OwnerReference | undefined {
  return ownerReferences.find(({ controller }) => controller === true);
}

/** Lines of `setpoint why`. */
export async function explain(
  client: Client,
  { kind, namespace, name }: WhyAction,
  now: number,
): Promise<readonly string[]> {
  const type = await findKind(client, kind);
  const explanation = await explainObject(client, { type, namespace, name }, now);
  return explanationText(explanation).trimEnd().split("\n");
}

async function findKind(client: Client, kind: string): Promise<ResourceType> {
  if (kind === "Pod") return Pod;
  if (kind === "Node") return Node;
  const found = await findServedKind(client, kind);
  if (found === undefined) throw new Error(`the server has no kind ${kind}`);
  return found;
}
