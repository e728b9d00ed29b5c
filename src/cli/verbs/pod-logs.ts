/** `setpoint logs POD`: the log of a container, as kubectl prints it. */
import { Pod } from "../../api/generated/types/core-v1.ts";
import type { LogOptions } from "../../client/client.ts";
import { findText, UsageError, type Arguments, type OptionSpec } from "../command.ts";
import { containerOf, containerOption, podsNamed } from "./pods-named.ts";
import { parseTimeout, selectorOption } from "./verb-options.ts";
import type { VerbSession } from "./verb-session.ts";

export const podLogOptions: readonly OptionSpec[] = [
  containerOption,
  { flags: "--all-containers", help: "logs of all containers of the pod" },
  selectorOption,
  { flags: "-p, --previous", help: "log of the container's previous run" },
  { flags: "--since <duration>", help: "only lines of the last 10s, 5m …" },
  { flags: "--timestamps", help: "the time before each line" },
];

/** Lines of each container that `--selector` shows. */
const SELECTED_TAIL = "10";

/** Prints the log of the named object's pod, or of all pods that `--selector` chooses when `object` is undefined. */
export async function printPodLogs(session: VerbSession, object: string | undefined): Promise<void> {
  const { io, args } = session;
  const isAll = args.options["allContainers"] === true;
  if (isAll && findText(args, "container") !== undefined)
    throw new UsageError("--all-containers and --container exclude each other");
  const options = logOptions(args, object === undefined ? SELECTED_TAIL : "-1");
  const pods = object === undefined ? await selectedPods(session) : [await podOf(session, object)];
  const sources = pods.flatMap((pod) => {
    const containers = isAll ? allContainers(pod) : [containerOf(session, pod)];
    return containers.map((container) => ({ pod, options: { ...options, container } }));
  });
  if (sources.length === 0) io.stderr(`No resources found in ${session.namespace ?? ""} namespace.\n`);
  if (options.follow !== true) {
    for (const source of sources) await printLog(session, source);
    return;
  }
  if (sources.length > MAX_FOLLOWED)
    throw new UsageError(
      `-f follows at most ${MAX_FOLLOWED} logs at once, and these are ${sources.length}: choose fewer pods`,
    );
  await Promise.all(sources.map((source) => printLog(session, source)));
}

/** kubectl's default bound of logs that are followed at once. */
const MAX_FOLLOWED = 5;

interface LogSource {
  readonly pod: Pod;
  readonly options: LogOptions;
}

async function printLog({ io, client }: VerbSession, { pod, options }: LogSource): Promise<void> {
  const decoder = new TextDecoder();
  // Whole lines only: logs that are followed at once share the output.
  let begun = "";
  for await (const bytes of await client(Pod).logs(pod, options)) {
    const text = begun + decoder.decode(bytes, { stream: true });
    const end = text.lastIndexOf("\n") + 1;
    begun = text.slice(end);
    if (end > 0) io.stdout(text.slice(0, end), "raw");
  }
  if (begun !== "") io.stdout(begun, "raw");
}

async function podOf(session: VerbSession, object: string): Promise<Pod> {
  const [pod, ...others] = await podsNamed(session, object);
  if (pod === undefined) throw new Error(`${object} has no pods`);
  if (others.length > 0)
    session.io.stderr(`Found ${String(others.length + 1)} pods, using pod/${pod.metadata.name}\n`);
  return pod;
}

async function selectedPods({ client, namespace = "default", args }: VerbSession): Promise<readonly Pod[]> {
  const labelSelector = findText(args, "selector") ?? "";
  return (await client(Pod).list({ namespace, labelSelector })).items;
}

function allContainers({ spec }: Pod): readonly string[] {
  const { initContainers = [], containers, ephemeralContainers = [] } = spec;
  return [...initContainers, ...containers, ...ephemeralContainers].map(({ name }) => name);
}

function logOptions(args: Arguments, defaultTail: string): LogOptions {
  const tail = findText(args, "tail") ?? defaultTail;
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
