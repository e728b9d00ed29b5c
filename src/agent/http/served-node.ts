/** A node as its HTTP API shows it. */
import type { Readable } from "node:stream";
import type { Container, Pod } from "../../api/generated/types/core-v1.ts";
import type { ProbeTotals } from "../probes/probe-totals.ts";
import type { ContainerPlace, LogQuery, RuntimeHandler } from "../runtime-handler.ts";
import type { ContainerPath } from "./kubelet-route.ts";

/** The parts of a runtime handler that the API needs. */
export type ServedRuntime = Pick<RuntimeHandler, "exec" | "attach" | "portForward" | "usage">;

export interface ServedNode {
  readonly name: string;
  /** All pods that are bound to the node, with their newest status. */
  pods(): readonly Pod[];
  /** Undefined before the pod has a sandbox. */
  findRuntime(pod: Pod): ServedRuntime | undefined;
  /** Output of a container's run, for as long as the pod exists; undefined if there is no such run. */
  readLog(place: ContainerPlace, query: LogQuery): Promise<Readable | undefined>;
  /** Results of the probes of a pod; empty for a handler that probes itself. */
  probeTotals(pod: Pod): readonly ProbeTotals[];
  /** A node that is not up answers nothing, like a machine that is off. */
  isUp(): boolean;
  /** Settings for `/configz`, under their names in a KubeletConfiguration. */
  configuration(): Readonly<Record<string, unknown>>;
}

export function findPod(
  node: ServedNode,
  { namespace, pod: name, uid }: Omit<ContainerPath, "container">,
): Pod | undefined {
  return node
    .pods()
    .find(
      ({ metadata }) =>
        metadata.name === name &&
        metadata.namespace === namespace &&
        (uid === undefined || metadata.uid === uid),
    );
}

export function findContainer({ spec }: Pod, name: string): Container | undefined {
  const { containers, initContainers = [], ephemeralContainers = [] } = spec;
  return [...containers, ...initContainers, ...ephemeralContainers].find((each) => each.name === name);
}
