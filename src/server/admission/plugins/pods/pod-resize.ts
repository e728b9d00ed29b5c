/** PodResizeValidator: limits a resize to the node's allocatable resources and to Linux nodes. */
import type { Node, Pod } from "../../../../api/generated/types/core-v1.ts";
import { podRequests } from "../../../../resources/pod/pod-requests.ts";
import { resourceNumber } from "../../../../resources/pod/resource-number.ts";
import { ownValue } from "../../../../resources/rules/value-rules.ts";
import { kindPrefix } from "../../../objects/lister.ts";
import { definePlugin } from "../../plugin.ts";
import { refusal, refusalFor } from "../../refusal.ts";

const NODES = kindPrefix<Node>("minions");
const OS = "kubernetes.io/os";

export const podResizeValidator = definePlugin<Pod>({
  name: "PodResizeValidator",
  interests: [{ resources: ["pods/resize"], operations: ["UPDATE"] }],

  validate(pod, request) {
    const { nodeName = "" } = pod.spec;
    const isUnchanged = request.previous?.metadata.generation === pod.metadata.generation;
    if (nodeName === "" || isUnchanged) return;
    const node = request.memory.find(NODES, nodeName);
    if (node === undefined) throw refusal(request, `node "${nodeName}" not found`);
    const lacking = ["cpu", "memory"].flatMap((name) => lackText(name, pod, node));
    if (lacking.length > 0) {
      const why = `Node didn't have enough allocatable resources: ${lacking.join("; ")}`;
      throw refusalFor(request, why, { reason: "NodeCapacity" });
    }
    const os = ownValue(node.metadata.labels, OS) ?? "";
    if (os !== "linux") {
      const why = `pod resize is only supported on linux nodes, node "${nodeName}" is "${os}"`;
      throw refusalFor(request, why, { reason: "UnsupportedPlatform" });
    }
  },
});

function lackText(name: string, pod: Pod, { status }: Node): readonly string[] {
  const asked = podRequests(pod).get(name) ?? 0;
  const there = resourceNumber(name, ownValue(status.allocatable, name) ?? "0");
  return asked > there ? [`${name}, requested: ${asked}, allocatable: ${there}`] : [];
}
