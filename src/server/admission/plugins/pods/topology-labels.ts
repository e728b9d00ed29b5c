/** PodTopologyLabels: copies the zone and region labels of its node to a pod, where its containers can read them. */
import type { Binding, Node, Pod } from "../../../../api/generated/types/core-v1.ts";
import { ownValue } from "../../../../resources/rules/value-rules.ts";
import { kindPrefix } from "../../../objects/lister.ts";
import { definePlugin } from "../../plugin.ts";

const NODES = kindPrefix<Node>("minions");
const TOPOLOGY = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

export const podTopologyLabels = definePlugin<Pod | Binding>({
  name: "PodTopologyLabels",
  interests: [{ resources: ["pods", "pods/binding"], operations: ["CREATE"] }],

  mutate(draft, { memory }) {
    const name = draft.kind === "Pod" ? draft.spec.nodeName : nodeOf(draft as Binding);
    const labels = name === undefined || name === "" ? undefined : memory.find(NODES, name)?.metadata.labels;
    if (labels === undefined) return;
    const { metadata } = draft;
    for (const key of TOPOLOGY) {
      const value = ownValue(labels, key);
      if (value !== undefined && ownValue(metadata.labels, key) === undefined)
        metadata.labels = { ...metadata.labels, [key]: value };
    }
  },
});

function nodeOf({ target }: Binding): string | undefined {
  return target.kind === "Node" ? target.name : undefined;
}
