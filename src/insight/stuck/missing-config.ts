/** A ConfigMap or Secret of the pod is missing, or lacks a key. */
import { Pod } from "../../api/generated/types/core-v1.ts";
import type { Finding, StuckRule } from "./situation.ts";
import { asKind, inNamespace } from "./situation.ts";
import { waitingContainers } from "./waiting-containers.ts";

const MISSING = /(configmap|secret) "([^"]+)" not found/i;
const LACKING = /couldn't find key|non-existent (?:config|secret) key/;
/** Containers wait with these reasons while the pod's environment and volumes are prepared. */
const WAITING = new Set(["CreateContainerConfigError", "ContainerCreating", "PodInitializing"]);

export const missingConfigRule: StuckRule = (situation) => {
  const pod = asKind(situation, Pod);
  const waiting = pod && waitingContainers(pod).find(({ reason }) => WAITING.has(reason));
  if (pod === undefined || waiting === undefined) return undefined;
  const mounts = situation.events.filter(({ reason }) => reason === "FailedMount");
  for (const message of [waiting.message, ...mounts.map((each) => each.message ?? "")]) {
    const [, kind, name] = MISSING.exec(message) ?? [];
    if (kind !== undefined && name !== undefined) return missing(kind.toLowerCase(), name, pod);
    if (LACKING.test(message)) return { blockedBy: `a missing key: ${message}`, unblock: [] };
  }
  return undefined;
};

function missing(kind: string, name: string, { metadata: { namespace = "" } }: Pod): Finding {
  const [title, type] = kind === "secret" ? ["Secret", "secret generic"] : ["ConfigMap", "configmap"];
  const command = `kubectl create ${type} ${name} --from-literal=KEY=VALUE${inNamespace(namespace)}`;
  return {
    blockedBy: `${title} ${namespace}/${name} does not exist, and the pod needs it`,
    unblock: [{ command, effect: "create it" }],
  };
}
