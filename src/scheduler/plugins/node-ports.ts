/** Keeps pods with the same host port on different nodes. */

import { type PluginFactory, reject } from "../framework/scheduler-plugin.ts";

const REJECTION = reject("NodePorts", "node(s) didn't have free ports for the requested pod ports", true);

export const nodePorts: PluginFactory = () => ({
  name: "NodePorts",
  scope: "node",
  queueingHints: {
    nodeAdded: ({ shape }, { node }) => !node.ports.conflictsWith(shape.hostPorts),
    podFreed: ({ shape }, { pod, node }) =>
      pod.shape.hostPorts.length > 0 && node?.ports.conflictsWith(shape.hostPorts) === false,
  },
  filter({ pod }) {
    const { hostPorts } = pod.shape;
    if (hostPorts.length === 0) return undefined;
    return { type: "check", check: ({ ports }) => (ports.conflictsWith(hostPorts) ? REJECTION : undefined) };
  },
});
