/** Keeps pods off nodes that lack a required feature, such as restarting all containers. */

import { type PluginFactory, reject } from "../framework/scheduler-plugin.ts";

const REJECTION = reject("NodeDeclaredFeatures", "node(s) didn't match Pod's required features", false);

export const nodeDeclaredFeatures: PluginFactory = () => ({
  name: "NodeDeclaredFeatures",
  scope: "node",
  queueingHints: {
    nodeAdded: ({ shape }, { node }) => hasAll(node.node.status.declaredFeatures, shape.features),
    nodeFeatures: ({ shape }, { node }) => hasAll(node.node.status.declaredFeatures, shape.features),
  },
  filter({ pod }) {
    const { features } = pod.shape;
    if (features.length === 0) return undefined;
    return {
      type: "check",
      check: ({ node }) => (hasAll(node.status.declaredFeatures, features) ? undefined : REJECTION),
    };
  },
});

function hasAll(declared: readonly string[] | undefined, needed: readonly string[]): boolean {
  return needed.every((feature) => declared?.includes(feature) === true);
}
