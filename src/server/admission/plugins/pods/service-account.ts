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
} from "../../../../api/generated/types/core-v1.ts";
import { frozenMemo } from "../../../../api/json/frozen-memo.ts";
import { freezeJson } from "../../../../api/json/json-freeze.ts";
import { generateName } from "../../../../api/values/names.ts";
import type { Loop } from "../../../../base/loop/loop.ts";
import type { Draft } from "../../../../resources/rules/kind-rules.ts";
import { shelf } from "../../../objects/lister.ts";
import { definePlugin } from "../../plugin.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../../plugin.ts";
import { refusal } from "../../refusal.ts";
import { mirrorPodProblem } from "./mirror-pod.ts";
import { hasMountableSecrets, mountableSecretProblem } from "./mountable-secrets.ts";

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
  // One for all pods of this server: it has to be different from other names in its pod only, and equal specs stay equal.
  const tokens = new TokenMounts(generateName(VOLUME_PREFIX, loop.random("token volume")));
  return definePlugin<Pod>({
    name: "ServiceAccount",
    interests: [
      { resources: ["pods"], operations: ["CREATE"] },
      { resources: ["pods/ephemeralcontainers"], operations: ["UPDATE"] },
    ],

    ready(pod, request) {
      const { memory, namespace } = request;
      const name = accountNameOf(pod);
      if (isMirror(pod) || memory.find(ACCOUNTS, `${namespace}/${name}`) !== undefined) return undefined;
      const caughtUp = memory.caughtUp();
      if (caughtUp === undefined) return appearance(name, loop, request);
      return caughtUp.then(() => appearance(name, loop, request));
    },

    mutate(draft, request) {
      if (isMirror(draft) || request.operation !== "CREATE") return;
      const { spec } = draft;
      const account = requireAccount(draft, request);
      spec.serviceAccountName = account.metadata.name;
      spec.serviceAccount = account.metadata.name;
      if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true)
        tokens.mount(draft);
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

/** Resolves when it is there, or when it has not come for so long that the pod is refused; undefined when nobody will make it. */
function appearance(name: string, loop: Loop, request: AdmissionRequest): Promise<void> | undefined {
  const { memory, namespace, random } = request;
  const home = memory.find(NAMESPACES, namespace);
  const isMade = home !== undefined && home.metadata.deletionTimestamp === undefined;
  const isThere = (): boolean => memory.find(ACCOUNTS, `${namespace}/${name}`) !== undefined;
  if (name !== DEFAULT_ACCOUNT || !isMade || isThere()) return undefined;
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

/** Gives containers a token from a volume of this name; the same to the same frozen ones. */
class TokenMounts {
  readonly #name: string;
  readonly #mounted: (containers: Draft<Container[]>) => Draft<Container[]>;
  readonly #withVolume: (volumes: Draft<Volume[]>) => Draft<Volume[]>;

  constructor(name: string) {
    this.#name = name;
    this.#mounted = frozenMemo((containers) => withMounts(containers, name));
    this.#withVolume = frozenMemo((volumes) => [...volumes, { name, projected: TOKEN_SOURCES }]);
  }

  mount({ spec }: Draft<Pod>): void {
    const { containers, initContainers, volumes = NO_VOLUMES } = spec;
    if (!containers.some(lacksToken) && initContainers?.some(lacksToken) !== true) return;
    const name = volumes.find((volume) => volume.name.startsWith(VOLUME_PREFIX))?.name ?? this.#name;
    const isOurs = name === this.#name;
    const mounted = isOurs ? this.#mounted : (list: Draft<Container[]>) => withMounts(list, name);
    spec.containers = mounted(containers);
    if (initContainers !== undefined) spec.initContainers = mounted(initContainers);
    if (volumes.every((volume) => volume.name !== name)) spec.volumes = this.#withVolume(volumes);
  }
}

const NO_VOLUMES: Draft<Volume[]> = freezeJson([]);

function withMounts(containers: Draft<Container[]>, name: string): Draft<Container[]> {
  return containers.map((container) => {
    if (!lacksToken(container)) return container;
    const mount: VolumeMount = { mountPath: MOUNT_PATH, name, readOnly: true };
    return { ...container, volumeMounts: [...(container.volumeMounts ?? []), mount] };
  });
}

function lacksToken({ volumeMounts = [] }: Container): boolean {
  return volumeMounts.every(({ mountPath }) => mountPath !== MOUNT_PATH);
}
