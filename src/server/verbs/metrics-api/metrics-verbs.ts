/** Answers requests for `metrics.k8s.io` from the stored pods and nodes and their current usage. */
import { notFound, unknownResource } from "../../../api/errors/api-error.ts";
import type { Node, Pod } from "../../../api/generated/types/core-v1.ts";
import { fieldsMatch } from "../../../api/selectors/field-selector.ts";
import { labelsMatch } from "../../../api/selectors/label-selector.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { Store, View } from "../../../store/store.ts";
import { prefixEnd } from "../../../store/store.ts";
import type { Registry, Resource, StoredResource } from "../../objects/registry.ts";
import { requireStored } from "../../objects/registry.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import { keyOf, prefixOf } from "../../objects/versions.ts";
import type { Answer, ObjectAnswer } from "../../request/answer.ts";
import type { Call } from "../../request/call.ts";
import { listOptionsOf } from "../read/list-options.ts";
import { nodeMetrics, podMetrics } from "./metrics-objects.ts";
import type { Measurement } from "./metrics-objects.ts";
import type { UsageSource } from "./usage-source.ts";

export interface MetricsParts {
  readonly loop: Loop;
  readonly store: Store;
  readonly registry: Registry;
  /** Without one, the server does not serve `metrics.k8s.io`. */
  readonly usage?: UsageSource;
}

export async function showPodMetrics(call: Call<Resource>, verbParts: MetricsParts): Promise<Answer> {
  const asked = askedOf(call, verbParts, "pods");
  const view = await verbParts.store.fresh();
  const objectOf = (pod: Pod): ApiObject | undefined => {
    const usage = asked.source.findPod(pod);
    return usage === undefined ? undefined : podMetrics(pod, usage, asked.measurement);
  };
  return call.info.name === "" ? listed<Pod>(view, asked, objectOf) : found<Pod>(view, asked, objectOf);
}

export async function showNodeMetrics(call: Call<Resource>, verbParts: MetricsParts): Promise<Answer> {
  const asked = askedOf(call, verbParts, "nodes");
  const view = await verbParts.store.fresh();
  const pods = podsByNode(view, requireStored(verbParts.registry, "", "pods"));
  const objectOf = (node: Node): ApiObject | undefined => {
    const usage = asked.source.findNode(node, pods.get(node.metadata.name) ?? []);
    return usage === undefined ? undefined : nodeMetrics(node, usage, asked.measurement);
  };
  return call.info.name === "" ? listed<Node>(view, asked, objectOf) : found<Node>(view, asked, objectOf);
}

interface Asked {
  readonly call: Call;
  readonly source: UsageSource;
  readonly measurement: Measurement;
  /** Resource whose usage is shown. */
  readonly measured: StoredResource;
}

function askedOf(call: Call, { usage, registry, loop }: MetricsParts, measured: string): Asked {
  if (usage === undefined) throw unknownResource();
  const measurement = { now: loop.now(), windowMs: usage.windowMs };
  return { call, source: usage, measurement, measured: requireStored(registry, "", measured) };
}

type ObjectOf<T> = (measured: T) => ApiObject | undefined;

function found<T>(view: View, { call, measured }: Asked, objectOf: ObjectOf<T>): ObjectAnswer {
  const { name, namespace } = call.info;
  const entry = view.get(keyOf(measured, namespace, name));
  if (entry === undefined) throw notFound({ group: "", resource: measured.facts.name }, name);
  const object = objectOf(StoredObject.of(entry).object as T);
  if (object !== undefined) return { type: "object", code: 200, object };
  const { group, kind } = call.resource.facts;
  const place = namespace === "" ? name : `${namespace}/${name}`;
  throw notFound({ group, resource: kind.toLowerCase() }, place);
}

function listed<T>(view: View, { call, measured }: Asked, objectOf: ObjectOf<T>): ObjectAnswer {
  const { apiVersion, facts } = call.resource;
  const { labels, fields } = listOptionsOf(call.query, facts, "list");
  const prefix = prefixOf(measured, call.info.namespace);
  const items: ApiObject[] = [];
  for (const entry of view.range(prefix, prefixEnd(prefix))) {
    const { object } = StoredObject.of(entry);
    const { metadata } = object;
    const fieldOf = (field: string): string =>
      (field === "metadata.name" ? metadata.name : metadata.namespace) ?? "";
    if (!labelsMatch(labels, metadata.labels) || !fieldsMatch(fields, fieldOf)) continue;
    const shown = objectOf(object as T);
    if (shown !== undefined) items.push(shown);
  }
  const list = { apiVersion, kind: `${facts.kind}List`, metadata: {}, items };
  return { type: "object", code: 200, object: list };
}

function podsByNode(view: View, resource: StoredResource): ReadonlyMap<string, readonly Pod[]> {
  const prefix = prefixOf(resource, "");
  const byNode = new Map<string, Pod[]>();
  for (const entry of view.range(prefix, prefixEnd(prefix))) {
    const pod = StoredObject.of(entry).object as Pod;
    const { nodeName } = pod.spec;
    if (nodeName === undefined) continue;
    const known = byNode.get(nodeName);
    if (known === undefined) byNode.set(nodeName, [pod]);
    else known.push(pod);
  }
  return byNode;
}
