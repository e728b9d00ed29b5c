/**
 * ServiceAccount: every pod runs as an account of its namespace, with that account's pull secrets and, unless it is turned off, a token, the
 * certificate of the server and the name of the namespace where programs look for them.
 */
import type {
  Container,
  Namespace,
  Pod,
  ProjectedVolumeSource,
  ServiceAccount,
  Volume,
  VolumeMount,
} from "../../api/generated/types/core-v1.ts";
import { freezeJson } from "../../api/json-freeze.ts";
import { generateName } from "../../api/names.ts";
import type { Loop } from "../../base/loop.ts";
import type { Draft } from "../../resources/kind-rules.ts";
import { mirrorPodProblem } from "./mirror-pod.ts";
import { hasMountableSecrets, mountableSecretProblem } from "./mountable-secrets.ts";
import { definePlugin } from "./plugin.ts";
import type { AdmissionPlugin, AdmissionRequest } from "./plugin.ts";
import { refusal } from "./refusal.ts";
import { shelf } from "./server-memory.ts";

const ACCOUNTS = shelf<ServiceAccount>("serviceaccounts");
const NAMESPACES = shelf<Namespace>("namespaces");
const DEFAULT_ACCOUNT = "default";
const MIRROR = "kubernetes.io/config.mirror";
const VOLUME_PREFIX = "kube-api-access-";
const MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
/** An hour and a little, by which the node tells the tokens that it renews itself. */
const TOKEN_SECONDS = 3607;

/** One for all pods; in the order of keys in which it is stored. */
const TOKEN_SOURCES: Draft<ProjectedVolumeSource> = freezeJson({
  defaultMode: 0o644,
  sources: [
    { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: "token" } },
    { configMap: { items: [{ key: "ca.crt", path: "ca.crt" }], name: "kube-root-ca.crt" } },
    {
      downwardAPI: {
        items: [{ fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" }, path: "namespace" }],
      },
    },
  ],
});

/** The default account of a new namespace is made by a loop; a pod that comes right after the namespace waits for it. As upstream's. */
const LOOKS = 10;
const PAUSE_MS = { least: 100, spread: 100 };

export function serviceAccount(loop: Loop): AdmissionPlugin {
  return definePlugin<Pod>({
    name: "ServiceAccount",
    interests: [
      { resources: ["pods"], operations: ["CREATE"] },
      { resources: ["pods/ephemeralcontainers"], operations: ["UPDATE"] },
    ],

    ready(pod, request) {
      const { memory, namespace } = request;
      if (isMirror(pod) || accountNameOf(pod) !== DEFAULT_ACCOUNT) return undefined;
      const home = memory.find(NAMESPACES, namespace);
      if (home === undefined || home.metadata.deletionTimestamp !== undefined) return undefined;
      const isThere = (): boolean => memory.find(ACCOUNTS, `${namespace}/${DEFAULT_ACCOUNT}`) !== undefined;
      return isThere() ? undefined : appearance(isThere, loop, request);
    },

    mutate(draft, request) {
      if (isMirror(draft) || request.operation !== "CREATE") return;
      const { spec } = draft;
      const account = requireAccount(draft, request);
      spec.serviceAccountName = account.metadata.name;
      spec.serviceAccount = account.metadata.name;
      if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true)
        mountToken(draft, request);
      if ((spec.imagePullSecrets ?? []).length === 0 && account.imagePullSecrets !== undefined)
        spec.imagePullSecrets = account.imagePullSecrets.map((secret) => ({ ...secret }));
    },

    validate(pod, request) {
      const problem = isMirror(pod) ? mirrorPodProblem(pod) : secretProblem(pod, request);
      if (problem !== undefined) throw refusal(request, problem);
    },
  });
}

/** Which secrets a pod uses is for its account to say, when it says so at all. */
function secretProblem(pod: Pod, { memory, namespace }: AdmissionRequest): string | undefined {
  const account = memory.find(ACCOUNTS, `${namespace}/${accountNameOf(pod)}`);
  if (account === undefined || !hasMountableSecrets(account)) return undefined;
  return mountableSecretProblem(pod, account);
}

/** A pod that a node shows of one that it runs by itself. */
function isMirror({ metadata }: Pod): boolean {
  return metadata.annotations !== undefined && Object.hasOwn(metadata.annotations, MIRROR);
}

function accountNameOf({ spec }: Pod): string {
  const { serviceAccountName = "" } = spec;
  return serviceAccountName === "" ? DEFAULT_ACCOUNT : serviceAccountName;
}

function requireAccount(pod: Pod, request: AdmissionRequest): ServiceAccount {
  const { memory, namespace } = request;
  const name = accountNameOf(pod);
  const account = memory.find(ACCOUNTS, `${namespace}/${name}`);
  if (account !== undefined) return account;
  const why = `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`;
  throw refusal(request, why);
}

/** Resolves when it is there, or when it has not come for so long that the pod is refused. */
function appearance(isThere: () => boolean, loop: Loop, { random }: AdmissionRequest): Promise<void> {
  const pauseMs = PAUSE_MS.least + random.below(PAUSE_MS.spread);
  const end = loop.inFlight("a pod waits for its service account");
  return new Promise((resolve) => {
    let looks = 1;
    const look = (): void => {
      looks += 1;
      if (!isThere() && looks < LOOKS) return wait();
      end();
      resolve();
    };
    const wait = (): void => {
      loop.timer(loop.now() + pauseMs, "progress", look);
    };
    wait();
  });
}

function mountToken({ spec }: Draft<Pod>, { random }: AdmissionRequest): void {
  const known = spec.volumes?.find(({ name }) => name.startsWith(VOLUME_PREFIX));
  const name = known?.name ?? generateName(VOLUME_PREFIX, random);
  const mount = { mountPath: MOUNT_PATH, name, readOnly: true };
  const lacking = [...spec.containers, ...(spec.initContainers ?? [])].some(lacksToken);
  if (!lacking) return;
  spec.containers = spec.containers.map((container) => withMount(container, mount));
  if (spec.initContainers !== undefined)
    spec.initContainers = spec.initContainers.map((container) => withMount(container, mount));
  if (known === undefined) spec.volumes = [...(spec.volumes ?? []), tokenVolume(name)];
}

function lacksToken({ volumeMounts = [] }: Container): boolean {
  return volumeMounts.every(({ mountPath }) => mountPath !== MOUNT_PATH);
}

function withMount(container: Draft<Container>, mount: VolumeMount): Draft<Container> {
  if (!lacksToken(container)) return container;
  return { ...container, volumeMounts: [...(container.volumeMounts ?? []), { ...mount }] };
}

function tokenVolume(name: string): Draft<Volume> {
  return { name, projected: TOKEN_SOURCES };
}
