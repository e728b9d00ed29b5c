/** NodeDeclaredFeatureValidator: refuses changes of a running pod that need features its node does not declare. */
import type { Node, Pod } from "../../../../api/generated/types/core-v1.ts";
import { featuresRequiredToUpdate } from "../../../../resources/pod/declared-features.ts";
import { kindPrefix } from "../../../objects/lister.ts";
import { definePlugin } from "../../plugin.ts";
import { refusal } from "../../refusal.ts";

const NODES = kindPrefix<Node>("minions");

export const nodeDeclaredFeatureValidator = definePlugin<Pod>({
  name: "NodeDeclaredFeatureValidator",
  // Upstream checks updates of the pod too, but no field that is mutable there needs a feature.
  interests: [{ resources: ["pods/resize"], operations: ["UPDATE"] }],

  validate(pod, request) {
    const { nodeName = "" } = pod.spec;
    const previous = request.previous as Pod | undefined;
    if (nodeName === "" || previous === undefined) return;
    if (previous.metadata.generation === pod.metadata.generation) return;
    const needed = featuresRequiredToUpdate(previous.spec, pod.spec);
    if (needed.length === 0) return;
    const node = request.memory.find(NODES, nodeName);
    if (node === undefined) throw refusal(request, `node "${nodeName}" not found`);
    const lacking = needed.filter((feature) => node.status.declaredFeatures?.includes(feature) !== true);
    if (lacking.length === 0) return;
    const what = `pod update requires features ${lacking.join(", ")}`;
    throw refusal(request, `${what} which are not available on node "${nodeName}"`);
  },
});
