/** A ConfigMap or Secret of the pod is missing, or lacks a key. */
import { Pod } from "../../api/generated/types/core-v1.ts";
import type { Finding, StuckRule } from "./situation.ts";
import { asKind, inNamespace } from "./situation.ts";
import { waitingContainers } from "./waiting-containers.ts";

const MISSING = /(configmap|secret) "([^"]+)" not found/i;
/** `couldn't find key b in ConfigMap t/cfg` */
const LACKING_ENV = /couldn't find key (\S+) in (ConfigMap|Secret) [^/\s]+\/(\S+)/;
/** `MountVolume.SetUp failed for volume "v" : references non-existent config key: b` */
const LACKING_FILE = /for volume "([^"]+)".*non-existent (?:config|secret) key: (\S+)/s;
/** Containers wait with these reasons while the pod's environment and volumes are prepared. */
const WAITING = new Set(["CreateContainerConfigError", "ContainerCreating", "PodInitializing"]);

export const missingConfigRule: StuckRule = (situation) => {
  const pod = asKind(situation, Pod);
  const waiting = pod && waitingContainers(pod).find(({ reason }) => WAITING.has(reason));
  if (pod === undefined || waiting === undefined) return undefined;
  const mounts = situation.events.filter(({ reason }) => reason === "FailedMount");
  for (const message of [waiting.message, ...mounts.map((each) => each.message ?? "")]) {
    const found = missingObject(message, pod) ?? missingKey(message, pod);
    if (found !== undefined) return found;
  }
  return undefined;
};

function missingObject(message: string, { metadata: { namespace = "" } }: Pod): Finding | undefined {
  const [, kind, name] = MISSING.exec(message) ?? [];
  if (kind === undefined || name === undefined) return undefined;
  const isSecret = kind.toLowerCase() === "secret";
  const [title, type] = isSecret ? ["Secret", "secret generic"] : ["ConfigMap", "configmap"];
  const command = `kubectl create ${type} ${name} --from-literal=KEY=VALUE${inNamespace(namespace)}`;
  return {
    blockedBy: `${title} ${namespace}/${name} does not exist, and the pod needs it`,
    unblock: [{ command, effect: "create it" }],
  };
}

interface Place {
  readonly kind: string;
  readonly name: string;
  readonly key: string;
}

function missingKey(message: string, pod: Pod): Finding | undefined {
  const place = keyInEnvironment(message) ?? keyInVolume(message, pod);
  if (place === undefined) return undefined;
  const { kind, name, key } = place;
  const { namespace = "" } = pod.metadata;
  const patch = JSON.stringify({ [kind === "Secret" ? "stringData" : "data"]: { [key]: "VALUE" } });
  const command = `kubectl patch ${kind.toLowerCase()} ${name}${inNamespace(namespace)} -p '${patch}'`;
  return {
    blockedBy: `${kind} ${namespace}/${name} has no key ${key}, and the pod needs it`,
    unblock: [{ command, effect: "add the key" }],
  };
}

function keyInEnvironment(message: string): Place | undefined {
  const [, key, kind, name] = LACKING_ENV.exec(message) ?? [];
  return key === undefined || kind === undefined || name === undefined ? undefined : { kind, name, key };
}

/** The message names the volume and the key; the pod says which object fills the volume. */
function keyInVolume(message: string, { spec }: Pod): Place | undefined {
  const [, volume, key] = LACKING_FILE.exec(message) ?? [];
  if (key === undefined) return undefined;
  const { configMap, secret, projected } = spec.volumes?.find(({ name }) => name === volume) ?? {};
  const parts = [{ configMap, secret: secret && { name: secret.secretName } }, ...(projected?.sources ?? [])];
  const places = parts.flatMap((part): readonly Place[] => {
    const [kind, name] = part.configMap ? ["ConfigMap", part.configMap.name] : ["Secret", part.secret?.name];
    return name === undefined ? [] : [{ kind, name, key }];
  });
  return places[0];
}
