/** The control plane's own pods in `kube-system`, under kubeadm's names and labels. */
import type { Readable } from "node:stream";
import type { LogQuery } from "../../agent/runtime-handler.ts";
import type { StaticPod, StaticPods } from "../../agent/static/static-pod.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { VERSION } from "../process/version.ts";
import { ComponentHandler } from "./component-handler.ts";
import type { LogComponent } from "./component-logs.ts";

/** Component whose log a container shows, by the container's name. */
const LOGS: ReadonlyMap<string, LogComponent> = new Map<string, LogComponent>([
  ["etcd", "store"],
  ["kube-apiserver", "kube-apiserver"],
  ["kube-controller-manager", "kube-controller-manager"],
  ["kube-scheduler", "kube-scheduler"],
]);

export interface ComponentPodsParts {
  /** Node on which the pods appear. */
  readonly node: string;
  readonly loop: Loop;
  readonly readLog: (component: LogComponent, query: LogQuery) => Readable;
}

export function componentPods({ node, loop, readLog }: ComponentPodsParts): StaticPods {
  return {
    pods: [...LOGS.keys()].map((name) => componentPod(name, node)),
    handler: (listener) =>
      new ComponentHandler({
        ...{ loop, listener },
        readLog: (container, query) => {
          const component = LOGS.get(container);
          return component && readLog(component, query);
        },
      }),
  };
}

/** The pods request nothing: they cost the node no capacity. */
function componentPod(name: string, node: string): StaticPod {
  return {
    ...{ node, name, namespace: "kube-system" },
    labels: { component: name, tier: "control-plane" },
    spec: {
      containers: [{ name, image: `setpoint:${VERSION}`, command: ["setpoint", "up"] }],
      hostNetwork: true,
      priorityClassName: "system-node-critical",
    },
  };
}
