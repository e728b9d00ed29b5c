/** What is worth telling the author of a pod or a template although it is accepted. */

import { FieldPath, fieldPath } from "../../api/field-error.ts";
import { frozenMemo } from "../../api/frozen-memo.ts";
import type {
  Container,
  ContainerPort,
  EnvVar,
  EphemeralContainer,
  NodeSelectorTerm,
  PodSpec,
  Volume,
} from "../../api/generated/types/core-v1.ts";
import type { ObjectMeta } from "../../api/generated/types/meta-v1.ts";
import { quoted } from "../../api/message-text.ts";
import { dns1123Label } from "../../api/names.ts";
import { parseQuantity, quantityMilliValue } from "../../api/quantity.ts";
import { addNew, ownValue } from "../value-rules.ts";
import type { ResourceList } from "./pod-resources.ts";

const DEPRECATED_LABELS = new Map([
  ["beta.kubernetes.io/arch", 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ["beta.kubernetes.io/os", 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  [
    "failure-domain.beta.kubernetes.io/region",
    'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  ],
  [
    "failure-domain.beta.kubernetes.io/zone",
    'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  ],
  [
    "beta.kubernetes.io/instance-type",
    'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  ],
]);

const DEPRECATED_ANNOTATIONS = [
  [
    "scheduler.alpha.kubernetes.io/critical-pod",
    'non-functional in v1.16+; use the "priorityClassName" field instead',
  ],
  ["security.alpha.kubernetes.io/sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
  [
    "security.alpha.kubernetes.io/unsafe-sysctls",
    'non-functional in v1.11+; use the "sysctls" field instead',
  ],
] as const;

const DEPRECATED_VOLUMES = {
  photonPersistentDisk: "deprecated in v1.11, non-functional in v1.16+",
  gitRepo: "deprecated in v1.11, and disabled by default in v1.33+",
  scaleIO: "deprecated in v1.16, non-functional in v1.22+",
  flocker: "deprecated in v1.22, non-functional in v1.25+",
  storageos: "deprecated in v1.22, non-functional in v1.25+",
  quobyte: "deprecated in v1.22, non-functional in v1.25+",
  glusterfs: "deprecated in v1.25, non-functional in v1.26+",
  cephfs: "deprecated in v1.28, non-functional in v1.31+",
  rbd: "deprecated in v1.28, non-functional in v1.31+",
} as const;

const BYTE_RESOURCES = ["memory", "ephemeral-storage"];

/** A pod, or a template where its kind keeps it. */
export interface PodLike {
  readonly metadata: ObjectMeta;
  readonly spec: PodSpec;
}

/** `place` is empty for a pod itself, else where the template is: `spec.template`. */
export function podWarnings({ metadata, spec }: PodLike, place: string): readonly string[] {
  const root = new FieldPath(place);
  const { first, rest } = place === "" ? ownSpecWarnings(spec) : specWarnings(spec, root.child("spec"));
  return [...first, ...annotationWarnings(metadata, root.child("metadata", "annotations")), ...rest];
}

/** Those that are told before what metadata gives rise to, and those after. */
interface SpecWarnings {
  readonly first: readonly string[];
  readonly rest: readonly string[];
}

const ownSpecWarnings = frozenMemo((spec: PodSpec): SpecWarnings => specWarnings(spec, fieldPath("spec")));

function specWarnings(spec: PodSpec, path: FieldPath): SpecWarnings {
  const rest = [
    ...(spec.volumes ?? []).flatMap((volume, i) => volumeWarnings(volume, path.child("volumes").index(i))),
    ...duplicateWarnings(spec, path),
    ...fractionWarnings(spec.overhead, path.child("overhead")),
    ...placedContainers(spec, path).flatMap(({ container, at }) => containerWarnings(container, at)),
    ...portWarnings(spec, path),
  ];
  return { first: selectorWarnings(spec, path), rest };
}

/** Names of pods made from it, and their hosts' names, begin with this one. */
export function nameWarnings(name: string, use: "pod" | "controller"): readonly string[] {
  const problems = dns1123Label(name);
  if (problems.length === 0) return [];
  const where = use === "pod" ? "the Pod's hostname" : "Pod names and hostnames";
  const advice = "which can result in surprising behavior; a DNS label is recommended";
  return [`metadata.name: this is used in ${where}, ${advice}: [${problems.join(" ")}]`];
}

function selectorWarnings(spec: PodSpec, path: FieldPath): readonly string[] {
  const affinity = spec.affinity?.nodeAffinity;
  const at = path.child("affinity", "nodeAffinity");
  const required = at.child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms");
  const preferred = at.child("preferredDuringSchedulingIgnoredDuringExecution");
  const terms = affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const preferences = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return [
    ...Object.keys(spec.nodeSelector ?? {}).flatMap((key) => {
      const message = DEPRECATED_LABELS.get(key);
      return message === undefined ? [] : [`${path.child("nodeSelector").key(key).toString()}: ${message}`];
    }),
    ...terms.flatMap((term, i) => termWarnings(term, required.index(i))),
    ...preferences.flatMap(({ preference }, i) =>
      termWarnings(preference, preferred.index(i).child("preference")),
    ),
    ...spreadWarnings(spec, path.child("topologySpreadConstraints")),
  ];
}

function termWarnings({ matchExpressions = [] }: NodeSelectorTerm, path: FieldPath): readonly string[] {
  return matchExpressions.flatMap(({ key }, i) => {
    const message = DEPRECATED_LABELS.get(key);
    const at = path.child("matchExpressions").index(i).child("key");
    return message === undefined ? [] : [`${at.toString()}: ${key} is ${message}`];
  });
}

function spreadWarnings({ topologySpreadConstraints = [] }: PodSpec, path: FieldPath): readonly string[] {
  return topologySpreadConstraints.flatMap(({ topologyKey, labelSelector }, i) => {
    const at = path.index(i);
    const message = DEPRECATED_LABELS.get(topologyKey);
    return [
      ...(message === undefined
        ? []
        : [`${at.child("topologyKey").toString()}: ${topologyKey} is ${message}`]),
      ...(labelSelector === undefined
        ? [`${at.child("labelSelector").toString()}: a null labelSelector results in matching no pod`]
        : []),
    ];
  });
}

function annotationWarnings({ annotations }: ObjectMeta, path: FieldPath): readonly string[] {
  return DEPRECATED_ANNOTATIONS.filter(([key]) => ownValue(annotations, key) !== undefined).map(
    ([key, message]) => `${path.key(key).toString()}: ${message}`,
  );
}

function volumeWarnings(volume: Volume, path: FieldPath): readonly string[] {
  return Object.entries(DEPRECATED_VOLUMES)
    .filter(([type]) => Object.hasOwn(volume, type))
    .map(
      ([type, message]) => `${path.child(type === "storageos" ? "storageOS" : type).toString()}: ${message}`,
    );
}

function duplicateWarnings(
  { hostAliases = [], imagePullSecrets = [] }: PodSpec,
  path: FieldPath,
): readonly string[] {
  const ips = new Set<string>();
  const names = new Set<string>();
  const secrets = path.child("imagePullSecrets");
  return [
    ...hostAliases.flatMap(({ ip }, i) =>
      addNew(ips, ip)
        ? []
        : [`${path.child("hostAliases").index(i).child("ip").toString()}: duplicate ip ${quoted(ip)}`],
    ),
    ...imagePullSecrets.flatMap(({ name = "" }, i) => {
      const at = secrets.index(i).child("name");
      const isNew = addNew(names, name);
      return [
        ...(isNew ? [] : [`${at.toString()}: duplicate name ${quoted(name)}`]),
        ...(name === "" ? [`${at.toString()}: invalid empty name ${quoted(name)}`] : []),
      ];
    }),
  ];
}

function fractionWarnings(list: ResourceList | undefined, path: FieldPath): readonly string[] {
  return BYTE_RESOURCES.flatMap((name) => {
    const amount = ownValue(list, name);
    if (amount === undefined || quantityMilliValue(parseQuantity(amount)) % 1000n === 0n) return [];
    return [
      `${path.key(name).toString()}: fractional byte value ${quoted(amount)} is invalid, must be an integer`,
    ];
  });
}

interface PlacedContainer {
  readonly container: Container | EphemeralContainer;
  readonly at: FieldPath;
}

function placedContainers(spec: PodSpec, path: FieldPath): readonly PlacedContainer[] {
  return (["initContainers", "containers", "ephemeralContainers"] as const).flatMap((list) =>
    (spec[list] ?? []).map((container, i) => ({ container, at: path.child(list).index(i) })),
  );
}

function containerWarnings(
  { resources, env = [] }: PlacedContainer["container"],
  path: FieldPath,
): readonly string[] {
  const at = path.child("resources");
  return [
    ...fractionWarnings(resources.limits, at.child("limits")),
    ...fractionWarnings(resources.requests, at.child("requests")),
    ...envWarnings(env, path.child("env")),
  ];
}

/** Defining a variable again is useful only when the new value builds on the old one. */
function envWarnings(env: readonly EnvVar[], path: FieldPath): readonly string[] {
  const names = new Set<string>();
  return env.flatMap(({ name, value = "", valueFrom }, i) => {
    if (addNew(names, name)) return [];
    const reference = `$(${name})`;
    const buildsOn = valueFrom === undefined && value !== reference && value.includes(reference);
    const hides = `hides previous definition of ${quoted(name)}, which may be dropped when using apply`;
    return buildsOn ? [] : [`${path.index(i).toString()}: ${hides}`];
  });
}

function portWarnings(spec: PodSpec, path: FieldPath): readonly string[] {
  const taken = new Map<string, { readonly port: ContainerPort; readonly at: FieldPath }[]>();
  const warnings: string[] = [];
  for (const { container, at: place } of placedContainers(spec, path)) {
    for (const [i, port] of (container.ports ?? []).entries()) {
      const key = `${port.containerPort}/${port.protocol ?? ""}`;
      const others = taken.get(key) ?? [];
      const at = place.child("ports").index(i);
      for (const other of others) warnings.push(...overlapWarning({ port, at }, other));
      taken.set(key, [...others, { port, at }]);
    }
  }
  return warnings;
}

interface PlacedPort {
  readonly port: ContainerPort;
  readonly at: FieldPath;
}

function overlapWarning({ port, at }: PlacedPort, other: PlacedPort): readonly string[] {
  if (port.hostIP === other.port.hostIP && port.hostPort === other.port.hostPort) {
    return [`${at.toString()}: duplicate port definition with ${other.at.toString()}`];
  }
  const isOpen = port.hostPort === undefined || other.port.hostPort === undefined;
  return isOpen ? [`${at.toString()}: overlapping port definition with ${other.at.toString()}`] : [];
}
