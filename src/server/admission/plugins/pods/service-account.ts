/**
 * ServiceAccount: sets the service account of every pod and copies its pull secrets. It also mounts a token, the CA
 * certificate and the namespace name, unless automounting is off.
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
import { kindPrefix } from "../../../objects/lister.ts";
import { definePlugin } from "../../plugin.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../../plugin.ts";
import { refusal } from "../../refusal.ts";
import { mirrorPodProblem } from "./mirror-pod.ts";
import { hasMountableSecrets, mountableSecretProblem } from "./mountable-secrets.ts";

const ACCOUNTS = kindPrefix<ServiceAccount>("serviceaccounts");
const NAMESPACES = kindPrefix<Namespace>("namespaces");
const DEFAULT_ACCOUNT = "default";
const MIRROR = "kubernetes.io/config.mirror";
const VOLUME_PREFIX = "kube-api-access-";
const MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
/** An hour and seven seconds, the value by which the kubelet recognizes tokens that it renews. */
const TOKEN_SECONDS = 3607;

/** Shared by all pods, with keys in stored order. */
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

/**
 * A controller creates the default account of a new namespace, so a pod waits for it. Upstream's number of attempts
 * and pause.
 */
const LOOKS = 10;
const PAUSE_MS = { least: 100, spread: 100 };

export function serviceAccount(loop: Loop): AdmissionPlugin {
  // One volume name for all pods of this server. It must be unique only within its pod, and equal specs stay equal.
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

/** A service account may limit the secrets of its pods by an annotation. */
function secretProblem(pod: Pod, { memory, namespace }: AdmissionRequest): string | undefined {
  const account = memory.find(ACCOUNTS, `${namespace}/${accountNameOf(pod)}`);
  if (account === undefined || !hasMountableSecrets(account)) return undefined;
  return mountableSecretProblem(pod, account);
}

/** Whether the pod mirrors a static pod of a node. */
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

/**
 * Resolves when the account exists or the wait has timed out. Undefined if the account exists or no controller will
 * create it.
 */
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

/** Mounts a token volume of this name into containers. Equal frozen inputs give the same result. */
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
