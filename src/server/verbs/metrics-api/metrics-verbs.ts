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
  const objectOf = (pod: Pod): ApiObject | undefined => {
    const usage = asked.source.findPod(pod);
    return usage === undefined ? undefined : podMetrics(pod, usage, asked.measurement);
  };
  return call.info.name === "" ? listed<Pod>(asked, objectOf, verbParts) : found<Pod>(asked, objectOf);
}

export async function showNodeMetrics(call: Call<Resource>, verbParts: MetricsParts): Promise<Answer> {
  const asked = await askedOf(call, verbParts, "nodes");
  const pods = await podsByNode(asked, verbParts);
  const objectOf = (node: Node): ApiObject | undefined => {
    const usage = asked.source.findNode(node, pods.get(node.metadata.name) ?? []);
    return usage === undefined ? undefined : nodeMetrics(node, usage, asked.measurement);
  };
  return call.info.name === "" ? listed<Node>(asked, objectOf, verbParts) : found<Node>(asked, objectOf);
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

type ObjectOf<T> = (measured: T) => ApiObject | undefined;

function found<T>({ call, measured, view }: Asked, objectOf: ObjectOf<T>): ObjectAnswer {
  const { name, namespace } = call.info;
  const entry = view.get(keyOf(measured, namespace, name));
  if (entry === undefined) throw notFound({ group: "", resource: measured.facts.name }, name);
  const object = objectOf(StoredObject.of(entry).object as T);
  if (object !== undefined) return { type: "object", code: 200, object };
  const { group, kind } = call.resource.facts;
  const place = namespace === "" ? name : `${namespace}/${name}`;
  throw notFound({ group, resource: kind.toLowerCase() }, place);
}

async function listed<T>(
  { call, measured, view }: Asked,
  objectOf: ObjectOf<T>,
  verbParts: MetricsParts,
): Promise<ObjectAnswer> {
  const { apiVersion, facts } = call.resource;
  const { labels, fields } = listOptionsOf(call.query, facts, "list");
  const walk = { selection: { labels, fields }, resource: measured, view, namespace: call.info.namespace };
  const items: ApiObject[] = [];
  await eachObject(walk, verbParts, (object) => {
    const { metadata } = object;
    const fieldOf = (field: string): string =>
      (field === "metadata.name" ? metadata.name : metadata.namespace) ?? "";
    if (!labelsMatch(labels, metadata.labels) || !fieldsMatch(fields, fieldOf)) return;
    const shown = objectOf(object as T);
    if (shown !== undefined) items.push(shown);
  });
  const list = { apiVersion, kind: `${facts.kind}List`, metadata: {}, items };
  return { type: "object", code: 200, object: list };
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
