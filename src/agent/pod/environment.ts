/** Computes the environment of a container from its pod. Values from ConfigMaps and Secrets stay unknown. */
import type { Container, EnvVar, Pod } from "../../api/generated/types/core-v1.ts";

/** Keyed by name; undefined for a variable with an unknown value. */
export type Environment = ReadonlyMap<string, string | undefined>;

/** Addresses of the pod and its node, which the pod object may lack. */
export interface PodAddresses {
  readonly hostAddresses: readonly string[];
  readonly addresses: readonly string[];
}

/** Matches `$(NAME)`, and `$$` for a dollar sign. */
const REFERENCE = /\$(?:\$|\((?<name>[^()]*)\))/g;

/** A variable may refer to earlier ones. */
export function environmentOf(pod: Pod, { env = [] }: Container, addresses?: PodAddresses): Environment {
  const environment = new Map<string, string | undefined>();
  for (const { name, value = "", valueFrom } of env) {
    const found =
      valueFrom === undefined ? expand(value, environment) : sourceText(pod, valueFrom, addresses);
    environment.set(name, found);
  }
  return environment;
}

export function referencesIn(text: string): readonly string[] {
  return [...text.matchAll(REFERENCE)].flatMap(({ groups }) => groups?.["name"] ?? []);
}

/** Undefined when the text refers to an unknown value. References to absent variables stay as text. */
export function expand(text: string, environment: Environment): string | undefined {
  const isKnown = referencesIn(text).every(
    (name) => !environment.has(name) || environment.get(name) !== undefined,
  );
  if (!isKnown) return undefined;
  return text.replaceAll(REFERENCE, (whole, name?: string) =>
    name === undefined ? "$" : (environment.get(name) ?? whole),
  );
}

const FIELDS = new Map<string, (pod: Pod, addresses?: PodAddresses) => string | undefined>([
  ["metadata.name", ({ metadata }) => metadata.name],
  ["metadata.namespace", ({ metadata }) => metadata.namespace ?? ""],
  ["metadata.uid", ({ metadata }) => metadata.uid],
  ["spec.nodeName", ({ spec }) => spec.nodeName ?? ""],
  ["spec.serviceAccountName", ({ spec }) => spec.serviceAccountName ?? ""],
  ["status.hostIP", (_, known) => known?.hostAddresses[0]],
  ["status.hostIPs", (_, known) => known?.hostAddresses.join(",")],
  ["status.podIP", (_, known) => known?.addresses[0]],
  ["status.podIPs", (_, known) => known?.addresses.join(",")],
]);

/** Undefined for other sources than fields. */
function sourceText(
  pod: Pod,
  { fieldRef }: NonNullable<EnvVar["valueFrom"]>,
  addresses?: PodAddresses,
): string | undefined {
  return fieldRef && fieldText(pod, fieldRef.fieldPath, addresses);
}

/** Empty for an absent label or annotation, undefined for unsupported fields. */
export function fieldText(pod: Pod, path: string, addresses?: PodAddresses): string | undefined {
  const read = FIELDS.get(path);
  if (read !== undefined) return read(pod, addresses);
  const { map, key = "" } =
    /^metadata\.(?<map>annotations|labels)\['(?<key>[^']*)'\]$/.exec(path)?.groups ?? {};
  if (map === undefined) return undefined;
  const { annotations, labels } = pod.metadata;
  return (map === "labels" ? labels : annotations)?.[key] ?? "";
}
