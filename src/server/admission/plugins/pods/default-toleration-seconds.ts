/** DefaultTolerationSeconds: a pod stays for five minutes on a node that is not ready or out of reach, unless it says otherwise. */
import type { Pod, Toleration } from "../../../../api/generated/types/core-v1.ts";
import { frozenMemo } from "../../../../api/json/frozen-memo.ts";
import { freezeJson } from "../../../../api/json/json-freeze.ts";
import type { Draft } from "../../../../resources/rules/kind-rules.ts";
import { definePlugin } from "../../plugin.ts";

/** As long as a node may take to come back. The same for all pods; in the order of keys in which it is stored. */
const PATIENCE: readonly Toleration[] = freezeJson(
  ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"].map((key) => ({
    effect: "NoExecute" as const,
    key,
    operator: "Exists" as const,
    tolerationSeconds: 300,
  })),
);

export const defaultTolerationSeconds = definePlugin<Pod>({
  name: "DefaultTolerationSeconds",
  interests: [{ resources: ["pods"], operations: ["CREATE", "UPDATE"] }],

  mutate({ spec }) {
    spec.tolerations = patient(spec.tolerations ?? NONE);
  },
});

const NONE: Draft<Toleration[]> = freezeJson([]);

const patient = frozenMemo((tolerations: Draft<Toleration[]>): Draft<Toleration[]> => {
  const missing = PATIENCE.filter(({ key }) => !tolerations.some((toleration) => covers(toleration, key)));
  return missing.length === 0 ? tolerations : [...tolerations, ...missing];
});

function covers({ key = "", effect = "NoExecute" }: Toleration, taint: string | undefined): boolean {
  return (key === taint || key === "") && effect === "NoExecute";
}
