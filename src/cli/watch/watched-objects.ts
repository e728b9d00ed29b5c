/**
 * The little that `watch` keeps of an object: a cluster of 150,000 pods must fit. Pure.
 */
import type { ApiObject } from "../../api/api-object.ts";
import type { Event, Node, Pod } from "../../api/generated/types/core-v1.ts";
import { podCells } from "../../resources/pod/pod-cells.ts";
import { SIMULATED } from "../../resources/pod/simulated-annotations.ts";
import { phaseOf, type PodPhase } from "./pod-phase.ts";

/** Annotation that makes a simulated node act as if its machine were off. */
export const DOWN = `${SIMULATED}/down`;

/** Runtime that simulated nodes report. */
const SIMULATED_RUNTIME = "simulated://";

export interface PodCell {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** Empty while the pod is not scheduled. */
  readonly node: string;
  readonly phase: PodPhase;
  /** Status and ready containers as kubectl shows them. */
  readonly status: string;
  readonly ready: string;
  readonly restarts: number;
  /** `a=b,c=d`. */
  readonly labels: string;
  /** `ReplicaSet/web-7d9f`; empty without a controller. */
  readonly owner: string;
}

export interface NodeCell {
  readonly name: string;
  readonly isReady: boolean;
  readonly isCordoned: boolean;
  /** No machine: its power can be cut by an annotation. */
  readonly isSimulated: boolean;
  /** Its power is cut. */
  readonly isDown: boolean;
  readonly room: number;
}

export interface EventLine {
  readonly uid: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly isWarning: boolean;
  readonly reason: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly message: string;
  readonly count: number;
}

/** An object with its identity and the part that is kept. */
export interface Watched<T> extends ApiObject {
  readonly kept: T;
}

export function keeping<T>(keep: (object: ApiObject) => T): (object: ApiObject) => Watched<T> {
  return (object) => {
    const { name, namespace, uid, resourceVersion } = object.metadata;
    return {
      apiVersion: object.apiVersion,
      kind: object.kind,
      metadata: {
        name,
        ...(namespace !== undefined && { namespace }),
        uid,
        resourceVersion,
      } as Watched<T>["metadata"],
      kept: keep(object),
    };
  };
}

export function podCell(object: ApiObject): PodCell {
  const pod = withStatus(object as Pod);
  const { uid, namespace, name, labels = {}, ownerReferences = [] } = pod.metadata;
  const [, ready = "", status = "", restarts = ""] = podCells(pod, 0);
  const owner = ownerReferences.find(({ controller }) => controller === true);
  const texts = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return {
    uid,
    namespace: namespace ?? "",
    name,
    node: pod.spec.nodeName ?? "",
    phase: phaseOf(pod),
    status,
    ready,
    restarts: Number.parseInt(restarts, 10),
    labels: texts.join(","),
    owner: owner === undefined ? "" : `${owner.kind}/${owner.name}`,
  };
}

/** Servers may leave out the status of a pod that is new. */
function withStatus(pod: Pod): Pod {
  return (pod as Partial<Pod>).status === undefined ? { ...pod, status: {} as Pod["status"] } : pod;
}

export function nodeCell(object: ApiObject): NodeCell {
  const { metadata, spec, status } = object as Partial<Node> & ApiObject;
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  return {
    name: metadata.name ?? "",
    isReady: ready?.status === "True",
    isCordoned: spec?.unschedulable === true,
    isSimulated: status?.nodeInfo?.containerRuntimeVersion.startsWith(SIMULATED_RUNTIME) === true,
    isDown: metadata.annotations?.[DOWN] === "true",
    room: Number(status?.allocatable?.["pods"] ?? 0),
  };
}

export function eventLine(object: ApiObject): EventLine {
  const event = object as Event;
  const { kind = "", namespace = "", name = "" } = event.involvedObject;
  const { type, reason = "", message = "", series } = event;
  return {
    uid: event.metadata.uid,
    at: Date.parse(lastSeen(event)),
    isWarning: type === "Warning",
    reason,
    kind,
    namespace,
    name,
    message,
    count: series?.count ?? event.count ?? 1,
  };
}

function lastSeen({ series, lastTimestamp, eventTime, metadata }: Event): string {
  return series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp;
}
