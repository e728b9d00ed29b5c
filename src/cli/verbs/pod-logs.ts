/** `setpoint logs POD`: the log of a container, as kubectl prints it. */
import { Pod } from "../../api/generated/types/core-v1.ts";
import type { LabelSelector } from "../../api/generated/types/meta-v1.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import { compileLabelSelector, labelSelectorText } from "../../api/selectors/label-selector.ts";
import type { LogOptions } from "../../client/client.ts";
import { findText, UsageError, type Arguments, type OptionSpec } from "../command.ts";
import { targetsOf } from "./targets.ts";
import { parseTimeout } from "./verb-options.ts";
import type { VerbSession } from "./verb-session.ts";

export const podLogOptions: readonly OptionSpec[] = [
  { flags: "-c, --container <name>", help: "container of the pod (default: its first)" },
  { flags: "-p, --previous", help: "log of the container's previous run" },
  { flags: "--since <duration>", help: "only lines of the last 10s, 5m …" },
  { flags: "--timestamps", help: "the time before each line" },
];

/** Container that `kubectl logs` shows when none is named. */
const DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container";

export async function printPodLog(session: VerbSession, object: string): Promise<void> {
  const { io, args, client } = session;
  const pod = await podOf(session, object);
  const container = findText(args, "container") ?? defaultContainer(session, pod);
  const decoder = new TextDecoder();
  for await (const bytes of await client(Pod).logs(pod, { ...logOptions(args), container }))
    io.stdout(decoder.decode(bytes, { stream: true }));
}

function logOptions(args: Arguments): LogOptions {
  const tail = findText(args, "tail") ?? "-1";
  if (!/^(?:-1|\d{1,9})$/.test(tail))
    throw new UsageError(`--tail must be a number of lines, found "${tail}"`);
  const sinceMs = parseTimeout(args, "since", 0);
  return {
    follow: args.options["follow"] === true,
    previous: args.options["previous"] === true,
    timestamps: args.options["timestamps"] === true,
    ...(tail !== "-1" && { tailLines: Number(tail) }),
    ...(sinceMs > 0 && { sinceSeconds: Math.ceil(sinceMs / 1000) }),
  };
}

/** A pod by its name, or one of the pods of `TYPE/NAME`. */
async function podOf(session: VerbSession, object: string): Promise<Pod> {
  const { client, served, io } = session;
  const namespace = session.namespace ?? "default";
  const [target] = targetsOf([object.includes("/") ? object : `pod/${object}`], served);
  const [name = ""] = target?.names ?? [];
  if (target === undefined || target.resource.kind === Pod.kind) return client(Pod).get({ namespace, name });
  const owner = await client(target.resource).get({ namespace, name });
  const labelSelector = labelSelectorText(compileLabelSelector(selectorOf(owner, object)));
  const { items } = await client(Pod).list({ namespace, labelSelector });
  const [first] = items;
  if (first === undefined) throw new Error(`${object} has no pods`);
  if (items.length > 1) io.stderr(`Found ${String(items.length)} pods, using pod/${first.metadata.name}\n`);
  return first;
}

function selectorOf(owner: object, text: string): LabelSelector {
  const spec = "spec" in owner && isJsonObject(owner.spec) ? owner.spec : {};
  const { selector } = spec;
  if (!isJsonObject(selector)) throw new UsageError(`${text} selects no pods: name a pod`);
  const isPlain = !("matchLabels" in selector) && !("matchExpressions" in selector);
  return (isPlain ? { matchLabels: selector } : selector) as LabelSelector;
}

function defaultContainer({ io }: VerbSession, { metadata, spec }: Pod): string {
  const names = [...spec.containers, ...(spec.initContainers ?? [])].map(({ name }) => name);
  const annotated = metadata.annotations?.[DEFAULT_CONTAINER];
  const [first = ""] = names;
  if (annotated !== undefined && names.includes(annotated)) return annotated;
  if (names.length > 1) io.stderr(`Defaulted container "${first}" out of: ${names.join(", ")}\n`);
  return first;
}
