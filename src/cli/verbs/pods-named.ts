/** Pods that `POD`, `TYPE/NAME` or `service/NAME` names, for commands that work on one pod. */
import { Pod } from "../../api/generated/types/core-v1.ts";
import type { LabelSelector } from "../../api/generated/types/meta-v1.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import { compileLabelSelector, labelSelectorText } from "../../api/selectors/label-selector.ts";
import { findText, UsageError, type OptionSpec } from "../command.ts";
import { readNamed } from "./missing-namespace.ts";
import { poll } from "./poll.ts";
import { targetsOf, type Target } from "./targets.ts";
import { parseTimeout } from "./verb-options.ts";
import type { VerbSession } from "./verb-session.ts";

export const containerOption: OptionSpec = {
  flags: "-c, --container <name>",
  help: "container of the pod (default: its first)",
};

export const podTimeoutOption: OptionSpec = {
  flags: "--pod-running-timeout <duration>",
  help: "longest wait for a pod of TYPE/NAME",
  fallback: "1m0s",
};

const POD_TIMEOUT_MS = 60_000;

/** Container that is meant when none is named. */
const DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container";

/** The pod, or all pods that the object selects. Rejects when the object does not exist. */
export async function podsNamed(session: VerbSession, text: string): Promise<readonly Pod[]> {
  const { client } = session;
  const { resource, name } = objectNamed(session, text);
  const namespace = session.namespace ?? "default";
  if (resource.kind === Pod.kind)
    return [await readNamed(session, namespace, () => client(Pod).get({ namespace, name }))];
  const owner = await readNamed(session, namespace, () => client(resource).get({ namespace, name }));
  const labelSelector = labelSelectorText(compileLabelSelector(selectorOf(owner, text)));
  return (await client(Pod).list({ namespace, labelSelector })).items;
}

/** The pod, or the readiest and oldest pod of the object. Waits until there is one. */
export async function readiestPod(session: VerbSession, text: string): Promise<Pod> {
  const timeoutMs = parseTimeout(session.args, "podRunningTimeout", POD_TIMEOUT_MS);
  let found: readonly Pod[] = [];
  const hasPods = async (): Promise<boolean> => {
    found = await podsNamed(session, text);
    return found.length > 0;
  };
  await poll({ loop: session.loop, signal: session.io.signal, timeoutMs }, hasPods);
  const [first] = found.toSorted(readiestFirst);
  if (first === undefined) throw new Error(`timed out waiting for a pod of ${text}`);
  return first;
}

export function objectNamed(
  session: VerbSession,
  text: string,
): { readonly resource: Target["resource"]; readonly name: string } {
  const [target] = targetsOf([text.includes("/") ? text : `pod/${text}`], session);
  const [name] = target?.names ?? [];
  if (target === undefined || name === undefined) throw new UsageError(`"${text}" must be POD or TYPE/NAME`);
  return { resource: target.resource, name };
}

/** The container of the options, or the pod's default. */
export function containerOf({ io, args }: VerbSession, { metadata, spec }: Pod): string {
  const given = findText(args, "container");
  if (given !== undefined) return given;
  const names = spec.containers.map(({ name }) => name);
  const shown = [
    ...names,
    ...(spec.ephemeralContainers ?? []).map(({ name }) => `${name} (ephem)`),
    ...(spec.initContainers ?? []).map(({ name }) => `${name} (init)`),
  ];
  const annotated = metadata.annotations?.[DEFAULT_CONTAINER];
  const [first = ""] = names;
  if (annotated !== undefined && names.includes(annotated)) return annotated;
  if (shown.length > 1 && args.options["quiet"] !== true)
    io.stderr(`Defaulted container "${first}" out of: ${shown.join(", ")}\n`);
  return first;
}

function selectorOf(owner: object, text: string): LabelSelector {
  const spec = "spec" in owner && isJsonObject(owner.spec) ? owner.spec : {};
  const { selector } = spec;
  if (!isJsonObject(selector)) throw new UsageError(`${text} selects no pods: name a pod`);
  const isPlain = !("matchLabels" in selector) && !("matchExpressions" in selector);
  return (isPlain ? { matchLabels: selector } : selector) as LabelSelector;
}

function readiestFirst(left: Pod, right: Pod): number {
  return readiness(right) - readiness(left) || (bornAt(left) < bornAt(right) ? -1 : 1);
}

function readiness({ metadata, status }: Pod): number {
  const isReady = (status?.conditions ?? []).some(
    ({ type, status: value }) => type === "Ready" && value === "True",
  );
  return [metadata.deletionTimestamp === undefined, status?.phase === "Running", isReady].filter(Boolean)
    .length;
}

function bornAt({ metadata }: Pod): string {
  return metadata.creationTimestamp ?? "";
}
