/** The environment of a container with all values. Pure: the caller has read the objects. Error texts equal the kubelet's. */
import type { ConfigMap, Container, EnvVarSource, Pod, Secret } from "../../api/generated/types/core-v1.ts";
import { expand, fieldText, type PodAddresses } from "../pod/environment.ts";
import { resourceText } from "../pod/resource-field.ts";

export interface EnvironmentFacts {
  readonly pod: Pod;
  readonly container: Container;
  readonly addresses: PodAddresses;
  readonly allocatable: Readonly<Record<string, string>>;
  /** Variables about Services; the container's own take precedence. */
  readonly services: ReadonlyMap<string, string>;
  /** Objects of the pod's namespace by name; absent ones do not exist. */
  readonly configMaps: ReadonlyMap<string, ConfigMap>;
  readonly secrets: ReadonlyMap<string, Secret>;
}

/** A container that cannot be created; the message is shown in its status. */
export class ProgramError extends Error {}

export function programEnvironment(facts: EnvironmentFacts): ReadonlyMap<string, string> {
  const own = new Map<string, string>();
  for (const { prefix = "", configMapRef, secretRef } of facts.container.envFrom ?? []) {
    if (configMapRef !== undefined) addAll(own, prefix, configMapTexts(facts, configMapRef));
    if (secretRef !== undefined) addAll(own, prefix, secretTexts(facts, secretRef));
  }
  for (const { name, value = "", valueFrom } of facts.container.env ?? []) {
    const known = new Map([...facts.services, ...own]);
    const text = valueFrom === undefined ? (expand(value, known) ?? value) : sourceText(facts, valueFrom);
    if (text !== undefined) own.set(name, text);
  }
  return new Map([...facts.services, ...own]);
}

/** Words of a command with their variables. */
export function expandedWords(
  words: readonly string[] = [],
  environment: ReadonlyMap<string, string>,
): readonly string[] {
  return words.map((word) => expand(word, environment) ?? word);
}

interface SourceName {
  readonly name?: string;
  readonly optional?: boolean;
}

/** Undefined for an optional value that does not exist: the variable is not set. */
function sourceText(facts: EnvironmentFacts, source: EnvVarSource): string | undefined {
  const { pod, container, addresses, allocatable } = facts;
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = source;
  if (fieldRef !== undefined) return fieldText(pod, fieldRef.fieldPath, addresses) ?? "";
  if (resourceFieldRef !== undefined) {
    const { containerName = container.name } = resourceFieldRef;
    const all = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
    const named = all.find(({ name }) => name === containerName) ?? container;
    return resourceText(resourceFieldRef, named, allocatable);
  }
  if (configMapKeyRef !== undefined)
    return keyText("ConfigMap", configMapKeyRef, { facts, texts: configMapTexts(facts, configMapKeyRef) });
  if (secretKeyRef !== undefined)
    return keyText("Secret", secretKeyRef, { facts, texts: secretTexts(facts, secretKeyRef) });
  throw new ProgramError(`variable source ${Object.keys(source).join(", ")} is not supported`);
}

function keyText(
  kind: "ConfigMap" | "Secret",
  { key, name = "", optional = false }: SourceName & { readonly key: string },
  { facts, texts }: { readonly facts: EnvironmentFacts; readonly texts: Readonly<Record<string, string>> },
): string | undefined {
  if (Object.hasOwn(texts, key)) return texts[key];
  if (optional) return undefined;
  throw new ProgramError(`couldn't find key ${key} in ${kind} ${facts.pod.metadata.namespace ?? ""}/${name}`);
}

function configMapTexts(
  { configMaps }: EnvironmentFacts,
  { name = "", optional = false }: SourceName,
): Readonly<Record<string, string>> {
  const found = configMaps.get(name);
  if (found === undefined && !optional) throw new ProgramError(`configmap ${JSON.stringify(name)} not found`);
  return found?.data ?? {};
}

function secretTexts(
  { secrets }: EnvironmentFacts,
  { name = "", optional = false }: SourceName,
): Readonly<Record<string, string>> {
  const found = secrets.get(name);
  if (found === undefined && !optional) throw new ProgramError(`secret ${JSON.stringify(name)} not found`);
  const entries = Object.entries(found?.data ?? {});
  return Object.fromEntries(
    entries.map(([key, text]) => [key, Buffer.from(text, "base64").toString("utf8")]),
  );
}

/** Keys that no variable can have are left out. */
function addAll(
  variables: Map<string, string>,
  prefix: string,
  texts: Readonly<Record<string, string>>,
): void {
  for (const [key, text] of Object.entries(texts)) {
    const name = prefix + key;
    if (name !== "" && !name.includes("=") && !name.includes("\0")) variables.set(name, text);
  }
}
