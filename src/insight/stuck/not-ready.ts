/** A container runs, but its readiness or startup probe fails. */
import { Pod } from "../../api/generated/types/core-v1.ts";
import type { StuckRule } from "./situation.ts";
import { asKind, inNamespace, kubectlName } from "./situation.ts";

export const notReadyRule: StuckRule = (situation) => {
  const pod = asKind(situation, Pod);
  const unready = pod?.status.containerStatuses?.find(
    ({ ready, state }) => !ready && state?.running !== undefined,
  );
  const failed = situation.events.find(
    ({ reason, message = "" }) => reason === "Unhealthy" && /^(Readiness|Startup) probe/.test(message),
  );
  if (pod === undefined || unready === undefined || failed?.message === undefined) return undefined;
  const { name, namespace } = pod.metadata;
  const command = `kubectl logs ${name} -c ${unready.name}${inNamespace(namespace)}`;
  return {
    blockedBy: `container ${unready.name} runs, but is not ready: ${failed.message.trim()}`,
    unblock: [
      { command, effect: "see why it does not answer its probe" },
      { command: `kubectl describe ${kubectlName(situation)}`, effect: "see its probes" },
    ],
  };
};
