/** DefaultTolerationSeconds: a pod stays for five minutes on a node that is not ready or out of reach, unless it says otherwise. */
import type { Pod, Toleration } from "../../api/generated/types/core-v1.ts";
import { definePlugin } from "./plugin.ts";

const TAINTS = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
const SECONDS = 300;

export const defaultTolerationSeconds = definePlugin<Pod>({
  name: "DefaultTolerationSeconds",
  interests: [{ resources: ["pods"], operations: ["CREATE", "UPDATE"] }],

  mutate({ spec }) {
    const { tolerations = [] } = spec;
    const missing = TAINTS.filter((key) => !tolerations.some((toleration) => covers(toleration, key)));
    if (missing.length > 0) spec.tolerations = [...tolerations, ...missing.map(patience)];
  },
});

function covers({ key = "", effect = "NoExecute" }: Toleration, taint: string): boolean {
  return (key === taint || key === "") && effect === "NoExecute";
}

function patience(key: string): Toleration {
  return { effect: "NoExecute", key, operator: "Exists", tolerationSeconds: SECONDS };
}
