/** The resources that a node has granted to a pod. They lag behind the spec while a resize is pending. */
import type { Container, Pod } from "../../api/generated/types/core-v1.ts";
import { jsonEqual } from "../../api/patch/json-equal.ts";

type Spec = Pod["spec"];
type Resources = Container["resources"];

/** Why the requested size is not granted. */
export interface SizeProblem {
  /** `Infeasible` when the node can never grant it. */
  readonly reason: "Deferred" | "Infeasible";
  readonly message: string;
}

/** The pod with the granted resources; the same object when they equal its spec. */
export function withSizesOf(pod: Pod, granted: Spec): Pod {
  if (pod.spec === granted) return pod;
  const own = resized(pod.spec, (name) => findContainer(granted, name)?.resources);
  const spec = withWholeSize(own, granted.resources);
  return spec === pod.spec ? pod : { ...pod, spec };
}

/** The granted resources according to the status, for an agent that restarts. */
export function grantedByStatus({ spec, status }: Pod): Spec {
  const known = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])];
  const own = resized(spec, (name) => known.find((it) => it.name === name)?.resources);
  return withWholeSize(own, status.resources ?? spec.resources);
}

/** Sets the pod-level resources. */
function withWholeSize(spec: Spec, size: Resources | undefined): Spec {
  if (size === undefined || jsonEqual(size, spec.resources)) return spec;
  return { ...spec, resources: size };
}

/** Containers with an undefined size keep their resources. */
function resized(spec: Spec, sizeOf: (name: string) => Resources | undefined): Spec {
  const change = (container: Container): Container => {
    const { limits, requests } = sizeOf(container.name) ?? container.resources;
    const { limits: ownLimits, requests: ownRequests, ...rest } = container.resources;
    if (jsonEqual(limits, ownLimits) && jsonEqual(requests, ownRequests)) return container;
    const size = { ...(limits !== undefined && { limits }), ...(requests !== undefined && { requests }) };
    return { ...container, resources: { ...rest, ...size } };
  };
  const containers = spec.containers.map(change);
  const initContainers = spec.initContainers?.map(change);
  const isSame =
    containers.every((it, i) => it === spec.containers[i]) &&
    (initContainers ?? []).every((it, i) => it === spec.initContainers?.[i]);
  return isSame ? spec : { ...spec, containers, ...(initContainers !== undefined && { initContainers }) };
}

function findContainer({ containers, initContainers = [] }: Spec, name: string): Container | undefined {
  return [...containers, ...initContainers].find((it) => it.name === name);
}
