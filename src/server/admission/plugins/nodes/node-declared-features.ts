/** NodeDeclaredFeatureValidator: nobody asks of a running pod what its node says it cannot do. */
import type { Node, Pod } from "../../../../api/generated/types/core-v1.ts";
import { featuresToChange } from "../../../../resources/pod/declared-features.ts";
import { shelf } from "../../../objects/lister.ts";
import { definePlugin } from "../../plugin.ts";
import { refusal } from "../../refusal.ts";

const NODES = shelf<Node>("minions");

export const nodeDeclaredFeatureValidator = definePlugin<Pod>({
  name: "NodeDeclaredFeatureValidator",
  // Upstream looks at the pod itself too, in which nothing can be changed that would need anything.
  interests: [{ resources: ["pods/resize"], operations: ["UPDATE"] }],

  validate(pod, request) {
    const { nodeName = "" } = pod.spec;
    const previous = request.previous as Pod | undefined;
    if (nodeName === "" || previous === undefined) return;
    if (previous.metadata.generation === pod.metadata.generation) return;
    const needed = featuresToChange(previous.spec, pod.spec);
    if (needed.length === 0) return;
    const node = request.memory.find(NODES, nodeName);
    if (node === undefined) throw refusal(request, `node "${nodeName}" not found`);
    const lacking = needed.filter((feature) => node.status.declaredFeatures?.includes(feature) !== true);
    if (lacking.length === 0) return;
    const what = `pod update requires features ${lacking.join(", ")}`;
    throw refusal(request, `${what} which are not available on node "${nodeName}"`);
  },
});
