/**
 * DefaultTolerationSeconds: evicts a pod after five minutes on a node that is not ready or unreachable, unless its
 * own tolerations differ.
 */
import type { Pod, Toleration } from "../../../../api/generated/types/core-v1.ts";
import { frozenMemo } from "../../../../api/json/frozen-memo.ts";
import { freezeJson } from "../../../../api/json/json-freeze.ts";
import type { Draft } from "../../../../resources/rules/kind-rules.ts";
import { definePlugin } from "../../plugin.ts";

/** Upstream's default tolerations. Frozen and shared by all pods, with keys in stored order. */
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
