/** Answers requests for `metrics.k8s.io` from the stored pods and nodes and their current usage. */
import { notFound, unknownResource } from "../../../api/errors/api-error.ts";
import type { Node, Pod } from "../../../api/generated/types/core-v1.ts";
import { fieldsMatch, parseFieldSelector } from "../../../api/selectors/field-selector.ts";
import { labelSelector, labelsMatch } from "../../../api/selectors/label-selector.ts";
import { inSlices } from "../../../base/loop/in-slices.ts";
import { runInTurns } from "../../../base/loop/run-in-turns.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { View } from "../../../store/store.ts";
import { prefixEnd } from "../../../store/store.ts";
import type { Registry, Resource, StoredResource } from "../../objects/registry.ts";
import { requireStored } from "../../objects/registry.ts";
import type { Selection } from "../../objects/selection/selection-terms.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import { keyOf, prefixOf } from "../../objects/versions.ts";
import type { Answer, ObjectAnswer } from "../../request/answer.ts";
import type { Call } from "../../request/call.ts";
import { listOptionsOf } from "../read/list-options.ts";
import type { ReadParts } from "../read/list.ts";
import { selectedEntries } from "../read/selected-entries.ts";
import { nodeMetrics, podMetrics } from "./metrics-objects.ts";
import type { Measurement } from "./metrics-objects.ts";
import type { UsageSource } from "./usage-source.ts";

export interface MetricsParts extends Pick<ReadParts, "loop" | "store" | "indexes" | "readyToList"> {
  readonly registry: Registry;
  /** Without one, the server does not serve `metrics.k8s.io`. */
  readonly usage?: UsageSource;
}

export async function showPodMetrics(call: Call<Resource>, verbParts: MetricsParts): Promise<Answer> {
  const asked = await askedOf(call, verbParts, "pods");
  const pods = await measuredObjects<Pod>(asked, verbParts);
  const readings = await asked.source.read(new Set(pods.map(({ spec }) => spec.nodeName ?? "")));
  const objectOf = (pod: Pod): ApiObject | undefined => {
    const usage = readings.findPod(pod);
    return usage === undefined ? undefined : podMetrics(pod, usage, asked.measurement);
  };
  return shown({ asked, objects: pods, objectOf }, verbParts);
}

export async function showNodeMetrics(call: Call<Resource>, verbParts: MetricsParts): Promise<Answer> {
  const asked = await askedOf(call, verbParts, "nodes");
  const nodes = await measuredObjects<Node>(asked, verbParts);
  const pods = await podsByNode(asked, verbParts);
  const readings = await asked.source.read(new Set(nodes.map(({ metadata }) => metadata.name)));
  const objectOf = (node: Node): ApiObject | undefined => {
    const usage = readings.findNode(node, pods.get(node.metadata.name) ?? []);
    return usage === undefined ? undefined : nodeMetrics(node, usage, asked.measurement);
  };
  return shown({ asked, objects: nodes, objectOf }, verbParts);
}

interface Asked {
  readonly call: Call;
  readonly source: UsageSource;
  readonly measurement: Measurement;
  /** Resource whose usage is shown. */
  readonly measured: StoredResource;
  readonly view: View;
}

async function askedOf(call: Call, verbParts: MetricsParts, measured: string): Promise<Asked> {
  const { usage, registry, loop, store } = verbParts;
  if (usage === undefined) throw unknownResource();
  const measurement = { now: loop.now(), windowMs: usage.windowMs };
  const view = await store.fresh();
  return { call, source: usage, measurement, measured: requireStored(registry, "", measured), view };
}

/** The object that the request names, or those that its list selects. */
async function measuredObjects<T>(asked: Asked, verbParts: MetricsParts): Promise<readonly T[]> {
  const { call, measured, view } = asked;
  const { name, namespace } = call.info;
  if (name === "") return selectedObjects<T>(asked, verbParts);
  const entry = view.get(keyOf(measured, namespace, name));
  if (entry === undefined) throw notFound({ group: "", resource: measured.facts.name }, name);
  return [StoredObject.of(entry).object as T];
}

async function selectedObjects<T>(
  { call, measured, view }: Asked,
  verbParts: MetricsParts,
): Promise<readonly T[]> {
  const { labels, fields } = listOptionsOf(call.query, call.resource.facts, "list");
  const walk = { selection: { labels, fields }, resource: measured, view, namespace: call.info.namespace };
  const selected: T[] = [];
  await eachObject(walk, verbParts, (object) => {
    const { metadata } = object;
    const fieldOf = (field: string): string =>
      (field === "metadata.name" ? metadata.name : metadata.namespace) ?? "";
    if (labelsMatch(labels, metadata.labels) && fieldsMatch(fields, fieldOf)) selected.push(object as T);
  });
  return selected;
}

interface Shown<T> {
  readonly asked: Asked;
  readonly objects: readonly T[];
  readonly objectOf: (measured: T) => ApiObject | undefined;
}

async function shown<T>(
  { asked: { call }, objects, objectOf }: Shown<T>,
  { loop }: MetricsParts,
): Promise<ObjectAnswer> {
  const items: ApiObject[] = [];
  const show = (measured: T): void => {
    const object = objectOf(measured);
    if (object !== undefined) items.push(object);
  };
  await runInTurns(inSlices(objects, show), loop);
  const { info, resource } = call;
  const { group, kind } = resource.facts;
  if (info.name === "") {
    const list = { apiVersion: resource.apiVersion, kind: `${kind}List`, metadata: {}, items };
    return { type: "object", code: 200, object: list };
  }
  const [object] = items;
  if (object !== undefined) return { type: "object", code: 200, object };
  const place = info.namespace === "" ? info.name : `${info.namespace}/${info.name}`;
  throw notFound({ group, resource: kind.toLowerCase() }, place);
}

/** The pods of the node that the request names, or of all nodes. */
async function podsByNode(
  { call, view }: Asked,
  verbParts: MetricsParts,
): Promise<ReadonlyMap<string, readonly Pod[]>> {
  const { name } = call.info;
  const fields = parseFieldSelector(name === "" ? "" : `spec.nodeName=${name}`);
  const resource = requireStored(verbParts.registry, "", "pods");
  const byNode = new Map<string, Pod[]>();
  const walk = { selection: { labels: labelSelector([]), fields }, resource, view, namespace: "" };
  await eachObject(walk, verbParts, (object) => {
    const pod = object as Pod;
    const { nodeName } = pod.spec;
    if (nodeName === undefined) return;
    const known = byNode.get(nodeName);
    if (known === undefined) byNode.set(nodeName, [pod]);
    else known.push(pod);
  });
  return byNode;
}

interface Walk {
  /** Chooses an index. `handle` may get objects that do not match. */
  readonly selection: Selection;
  readonly resource: StoredResource;
  readonly view: View;
  /** Empty for all namespaces. */
  readonly namespace: string;
}

/** Handles the objects in slices. */
async function eachObject(
  { selection, resource, view, namespace }: Walk,
  { loop, indexes, readyToList }: MetricsParts,
  handle: (object: ApiObject) => void,
): Promise<void> {
  await readyToList(prefixOf(resource, ""));
  const prefix = prefixOf(resource, namespace);
  const range = { from: prefix, to: prefixEnd(prefix) };
  const { entries } = await selectedEntries(selection, { resource, view, range }, indexes);
  await runInTurns(
    inSlices(entries, (entry) => handle(StoredObject.of(entry).object)),
    loop,
  );
}
