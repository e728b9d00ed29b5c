/** Warnings about valid but doubtful pods and templates. */

import { FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type {
  Container,
  ContainerPort,
  EnvVar,
  EphemeralContainer,
  NodeSelectorTerm,
  PodSpec,
  Volume,
} from "../../api/generated/types/core-v1.ts";
import type { LabelSelector, ObjectMeta } from "../../api/generated/types/meta-v1.ts";
import { frozenMemo } from "../../api/json/frozen-memo.ts";
import { quoted } from "../../api/values/message-text.ts";
import { dns1123Label, labelValue } from "../../api/values/names.ts";
import { expressionWarnings, labelWarnings } from "../node/node-label-warnings.ts";
import { byteWarnings } from "../rules/resource-amount.ts";
import type { ResourceList } from "../rules/resource-amount.ts";
import { addNew, ownValue } from "../rules/value-rules.ts";
import { APP_ARMOR_ADVICE, APP_ARMOR_PREFIX } from "./app-armor.ts";
import { SECCOMP_POD, SECCOMP_PREFIX } from "./pod-annotation-rules.ts";
import { PortOverlaps } from "./port-overlaps.ts";
import { claimWarnings, sourceWarnings, volumePathWarnings } from "./volume/volume-warnings.ts";

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

const SECCOMP_ADVICE = 'non-functional in v1.27+; use the "seccompProfile" field instead';

const BYTE_RESOURCES = ["memory", "ephemeral-storage"];

/** A pod or a template. */
export interface PodLike {
  readonly metadata: ObjectMeta;
  readonly spec: PodSpec;
}

/** `place` is the path of the template, `spec.template` for example; it is empty for a pod. */
export function podWarnings(pod: PodLike, place: string): readonly string[] {
  const root = new FieldPath(place);
  const at = root.child("metadata", "annotations");
  const { first, rest } =
    place === "" ? ownSpecWarnings(pod.spec) : specWarnings(pod.spec, root.child("spec"));
  const isTemplate = place !== "";
  return [
    ...first,
    ...(pod.metadata.annotations === undefined ? [] : annotationWarnings(pod, at, isTemplate)),
    ...rest,
  ];
}

/** Warnings before and after those about metadata, in upstream's order. */
interface SpecWarnings {
  readonly first: readonly string[];
  readonly rest: readonly string[];
}

const ownSpecWarnings = frozenMemo((spec: PodSpec): SpecWarnings => specWarnings(spec, fieldPath("spec")));

function specWarnings(spec: PodSpec, path: FieldPath): SpecWarnings {
  const rest = [
    ...(spec.volumes ?? []).flatMap((volume, i) => volumeWarnings(volume, path.child("volumes").index(i))),
    ...(spec.volumes ?? []).flatMap(volumePathWarnings),
    ...duplicateWarnings(spec, path),
    ...fractionWarnings(spec.overhead, path.child("overhead")),
    ...placedContainers(spec, path).flatMap(({ container, at }) => containerWarnings(container, at)),
    ...portWarnings(spec, path),
    ...portNameWarnings(spec, path),
    ...graceWarnings(spec, path.child("terminationGracePeriodSeconds")),
    ...podAffinityWarnings(spec, path.child("affinity")),
  ];
  return { first: selectorWarnings(spec, path), rest };
}

/** Warns because names and host names of pods begin with this name. */
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
    ...Object.keys(spec.nodeSelector ?? {}).flatMap((key) =>
      labelWarnings(key, path.child("nodeSelector").key(key), "path"),
    ),
    ...terms.flatMap((term, i) => expressionWarnings(term, required.index(i))),
    ...preferences.flatMap(({ preference }, i) =>
      preferenceWarnings(preference, preferred.index(i).child("preference")),
    ),
    ...spreadWarnings(spec, path.child("topologySpreadConstraints")),
  ];
}

/** A preferred value that is no valid label value never matches. */
function preferenceWarnings(term: NodeSelectorTerm, path: FieldPath): readonly string[] {
  const values = (term.matchExpressions ?? []).flatMap((expression, i) =>
    (expression.values ?? []).flatMap((value, at) =>
      labelValue(value).map((problem) => {
        const place = path.child("matchExpressions").index(i).child("values").index(at);
        return `${place.toString()}: ${value} is invalid, ${problem}`;
      }),
    ),
  );
  return [...expressionWarnings(term, path), ...values];
}

function spreadWarnings({ topologySpreadConstraints = [] }: PodSpec, path: FieldPath): readonly string[] {
  return topologySpreadConstraints.flatMap(({ topologyKey, labelSelector }, i) => [
    ...labelWarnings(topologyKey, path.index(i).child("topologyKey"), "label"),
    ...nullSelectorWarnings(labelSelector, path.index(i)),
  ]);
}

function nullSelectorWarnings(selector: LabelSelector | undefined, path: FieldPath): readonly string[] {
  if (selector !== undefined) return [];
  return [`${path.child("labelSelector").toString()}: a null labelSelector results in matching no pod`];
}

function podAffinityWarnings({ affinity }: PodSpec, path: FieldPath): readonly string[] {
  return (["podAffinity", "podAntiAffinity"] as const).flatMap((list) => {
    const at = path.child(list);
    const preferred = affinity?.[list]?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    return [
      ...(affinity?.[list]?.requiredDuringSchedulingIgnoredDuringExecution ?? []).flatMap((term, i) =>
        nullSelectorWarnings(
          term.labelSelector,
          at.child("requiredDuringSchedulingIgnoredDuringExecution").index(i),
        ),
      ),
      ...preferred.flatMap(({ podAffinityTerm }, i) =>
        nullSelectorWarnings(
          podAffinityTerm.labelSelector,
          at.child("preferredDuringSchedulingIgnoredDuringExecution").index(i).child("podAffinityTerm"),
        ),
      ),
    ];
  });
}

function annotationWarnings(pod: PodLike, path: FieldPath, isTemplate: boolean): readonly string[] {
  const { annotations } = pod.metadata;
  return [...DEPRECATED_ANNOTATIONS, ...profileAnnotations(pod.spec, isTemplate)]
    .filter(([key]) => ownValue(annotations, key) !== undefined)
    .map(([key, message]) => `${path.key(key).toString()}: ${message}`);
}

/** Annotations of seccomp and AppArmor without an equal field: agents ignore them. */
function profileAnnotations(spec: PodSpec, isTemplate: boolean): readonly (readonly [string, string])[] {
  const containers = placedContainers(spec, fieldPath("spec")).map(({ container }) => container);
  const { seccompProfile, appArmorProfile } = spec.securityContext ?? {};
  const isArmorTold = !isTemplate || appArmorProfile !== undefined;
  const armored = containers.filter((it) => it.securityContext?.appArmorProfile === undefined);
  return [
    ...(seccompProfile === undefined ? [[SECCOMP_POD, SECCOMP_ADVICE] as const] : []),
    ...containers
      .filter((it) => it.securityContext?.seccompProfile === undefined)
      .map(({ name }) => [`${SECCOMP_PREFIX}${name}`, SECCOMP_ADVICE] as const),
    ...(isArmorTold ? [] : armored).map(
      ({ name }) => [`${APP_ARMOR_PREFIX}${name}`, APP_ARMOR_ADVICE] as const,
    ),
  ];
}

function volumeWarnings(volume: Volume, path: FieldPath): readonly string[] {
  const claim = volume.ephemeral?.volumeClaimTemplate?.spec;
  return [
    ...sourceWarnings(volume, path),
    ...(claim === undefined
      ? []
      : claimWarnings(claim, path.child("ephemeral", "volumeClaimTemplate", "spec"))),
  ];
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
  return BYTE_RESOURCES.flatMap((name) => byteWarnings(list, name, path));
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

/** A redefined variable makes sense only when its value refers to the earlier one. */
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
  const overlaps = new PortOverlaps();
  for (const { container, at: place } of placedContainers(spec, path)) {
    for (const [i, port] of (container.ports ?? []).entries()) {
      const at = place.child("ports").index(i);
      for (const warning of hostIpWarnings(port, at)) overlaps.warn(warning);
      overlaps.add(port, at);
    }
  }
  return overlaps.warnings;
}

function hostIpWarnings(
  { name = "", containerPort, protocol, hostIP = "", hostPort }: ContainerPort,
  path: FieldPath,
): readonly string[] {
  if (hostIP === "" || hostPort !== undefined) return [];
  const shown = `Name:${name} HostPort:0 ContainerPort:${containerPort} Protocol:${protocol ?? ""} HostIP:${hostIP}`;
  return [`${path.toString()}: hostIP set without hostPort: {${shown}}`];
}

/** A named port refers to the first port of that name. */
function portNameWarnings(spec: PodSpec, path: FieldPath): readonly string[] {
  const taken = new Map<string, string>();
  return placedContainers(spec, path).flatMap(({ container, at }) =>
    (container.ports ?? []).flatMap(({ name = "" }, i) => {
      const place = at.child("ports").index(i).toString();
      const first = taken.get(name);
      if (name !== "" && first === undefined) taken.set(name, place);
      if (first === undefined) return [];
      const use = `services and probes that select ports by name will use ${first}`;
      return [`${place}: duplicate port name ${quoted(name)} with ${first}, ${use}`];
    }),
  );
}

function graceWarnings({ terminationGracePeriodSeconds = 0 }: PodSpec, path: FieldPath): readonly string[] {
  if (terminationGracePeriodSeconds >= 0) return [];
  return [`${path.toString()}: must be >= 0; negative values are invalid and will be treated as 1`];
}
