/**
 * Finds the ConfigMaps and Secrets that a pod needs to start, and the errors when they are missing. Error
 * texts equal the kubelet's. Only the keys of an object are checked, never its values.
 */
import type { Container, KeyToPath, Pod, Volume } from "../../api/generated/types/core-v1.ts";

export type ConfigKind = "configmap" | "secret";

export interface ConfigReference {
  readonly kind: ConfigKind;
  readonly namespace: string;
  readonly name: string;
}

export type ConfigState =
  | {
      readonly type: "found";
      readonly keys: ReadonlySet<string>;
      /** Volumes can use these keys, environment variables cannot. */
      readonly binaryKeys: ReadonlySet<string>;
    }
  | { readonly type: "missing" }
  | { readonly type: "failed"; readonly message: string };

/** Undefined while the object is unknown. */
export type FindConfig = (reference: ConfigReference) => ConfigState | undefined;

/** `open`: some objects are still unknown. */
export type ConfigFinding =
  | { readonly type: "open" }
  | { readonly type: "fine" }
  | { readonly type: "problem"; readonly message: string };

/** Use of one object by a volume or an environment. */
export interface ConfigUse extends ConfigReference {
  readonly isOptional: boolean;
  readonly keys: readonly string[];
  readonly madeOf: "file" | "variable";
}

export interface NeededVolume {
  readonly name: string;
  readonly uses: readonly ConfigUse[];
}

/** Volumes that a container mounts; the kubelet does not set up others. */
export function neededVolumes(pod: Pod): readonly NeededVolume[] {
  const { volumes = [] } = pod.spec;
  const needed = volumes
    .map((volume) => ({ name: volume.name, uses: volumeUses(volume, namespaceOf(pod)) }))
    .filter(({ uses }) => uses.length > 0);
  if (needed.length === 0) return [];
  const mounted = mountedNames(pod);
  return needed.filter(({ name }) => mounted.has(name));
}

/** In the order in which the kubelet checks them. */
export function environmentUses(pod: Pod, { env, envFrom }: Container): readonly ConfigUse[] {
  if (env === undefined && envFrom === undefined) return [];
  const namespace = namespaceOf(pod);
  const uses = [
    ...(envFrom ?? []).flatMap(({ configMapRef, secretRef }) => [
      ...variableUse("configmap", configMapRef),
      ...variableUse("secret", secretRef),
    ]),
    ...(env ?? []).flatMap(({ valueFrom }) => [
      ...variableUse("configmap", valueFrom?.configMapKeyRef),
      ...variableUse("secret", valueFrom?.secretKeyRef),
    ]),
  ];
  return uses.map((use) => ({ ...use, namespace }));
}

export function pullSecretUses(pod: Pod): readonly ConfigReference[] {
  const namespace = namespaceOf(pod);
  return (pod.spec.imagePullSecrets ?? [])
    .filter(({ name = "" }) => name !== "")
    .map(({ name = "" }) => ({ kind: "secret", namespace, name }));
}

/** Reports all errors of a volume's sources together. */
export function checkVolume({ uses }: NeededVolume, findConfig: FindConfig): ConfigFinding {
  const problems = problemsOf(uses, findConfig);
  if (problems === undefined) return { type: "open" };
  const [first, ...others] = new Set(problems);
  if (first === undefined) return { type: "fine" };
  return { type: "problem", message: others.length === 0 ? first : `[${[first, ...others].join(", ")}]` };
}

/** Reports only the first error of an environment. */
export function checkEnvironment(uses: readonly ConfigUse[], findConfig: FindConfig): ConfigFinding {
  const problems = problemsOf(uses, findConfig);
  if (problems === undefined) return { type: "open" };
  const [message] = problems;
  return message === undefined ? { type: "fine" } : { type: "problem", message };
}

/** Undefined while an object is unknown. Looks up all objects first, so that their reads start together. */
function problemsOf(uses: readonly ConfigUse[], findConfig: FindConfig): readonly string[] | undefined {
  const states = uses.map((use) => ({ use, state: findConfig(use) }));
  const problems: string[] = [];
  for (const { use, state } of states) {
    if (state === undefined) return undefined;
    const problem = findProblem(use, state);
    if (problem !== undefined) problems.push(problem);
  }
  return problems;
}

function findProblem(use: ConfigUse, state: ConfigState): string | undefined {
  const { kind, name, namespace, isOptional, keys, madeOf } = use;
  if (state.type === "failed") return state.message;
  if (isOptional) return undefined;
  if (state.type === "missing") return `${kind} ${JSON.stringify(name)} not found`;
  const isThere = (key: string): boolean =>
    state.keys.has(key) || (madeOf === "file" && state.binaryKeys.has(key));
  const lacking = keys.find((key) => !isThere(key));
  if (lacking === undefined) return undefined;
  if (madeOf === "file") {
    return `references non-existent ${kind === "secret" ? "secret" : "config"} key: ${lacking}`;
  }
  const title = kind === "secret" ? "Secret" : "ConfigMap";
  return `couldn't find key ${lacking} in ${title} ${namespace}/${name}`;
}

function volumeUses({ configMap, secret, projected }: Volume, namespace: string): readonly ConfigUse[] {
  const uses = [
    ...fileUse("configmap", configMap),
    ...fileUse("secret", secret && { ...secret, name: secret.secretName ?? "" }),
    ...(projected?.sources ?? []).flatMap((source) => [
      ...fileUse("secret", source.secret),
      ...fileUse("configmap", source.configMap),
    ]),
  ];
  return uses.map((use) => ({ ...use, namespace }));
}

type Use = Omit<ConfigUse, "namespace">;

interface FileSource {
  readonly name?: string;
  readonly optional?: boolean;
  readonly items?: readonly KeyToPath[];
}

function fileUse(kind: ConfigKind, source: FileSource | undefined): readonly Use[] {
  if (source === undefined) return [];
  const { name = "", optional: isOptional = false, items = [] } = source;
  return [{ kind, name, isOptional, keys: items.map(({ key }) => key), madeOf: "file" }];
}

interface VariableSource {
  readonly name?: string;
  readonly optional?: boolean;
  readonly key?: string;
}

function variableUse(kind: ConfigKind, source: VariableSource | undefined): readonly Use[] {
  if (source === undefined) return [];
  const { name = "", optional: isOptional = false, key } = source;
  return [{ kind, name, isOptional, keys: key === undefined ? [] : [key], madeOf: "variable" }];
}

function mountedNames({ spec }: Pod): ReadonlySet<string> {
  const all = [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])];
  return new Set(all.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name)));
}

function namespaceOf({ metadata }: Pod): string {
  return metadata.namespace ?? "";
}
