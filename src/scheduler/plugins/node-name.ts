/** Restricts a pod to the node in its spec. The queue never holds a pod with a node; the plugin serves dry runs. */

import { type PluginFactory, reject } from "../framework/scheduler-plugin.ts";

const REJECTION = reject("NodeName", "node(s) didn't match the requested node name", false);

export const nodeName: PluginFactory = () => ({
  name: "NodeName",
  scope: "cluster",
  queueingHints: { nodeAdded: ({ pod }, { node }) => node.name === pod.spec.nodeName },
  filter({ pod }) {
    const { nodeName: wanted = "" } = pod.pod.spec;
    if (wanted === "") return undefined;
    return { type: "check", check: ({ name }) => (name === wanted ? undefined : REJECTION) };
  },
});
