/** `setpoint logs POD`: the log of a container, as kubectl prints it. */
import { Pod } from "../../api/generated/types/core-v1.ts";
import type { LogOptions } from "../../client/client.ts";
import { findText, UsageError, type Arguments, type OptionSpec } from "../command.ts";
import { containerOf, containerOption, podsNamed } from "./pods-named.ts";
import { parseTimeout } from "./verb-options.ts";
import type { VerbSession } from "./verb-session.ts";

export const podLogOptions: readonly OptionSpec[] = [
  containerOption,
  { flags: "-p, --previous", help: "log of the container's previous run" },
  { flags: "--since <duration>", help: "only lines of the last 10s, 5m …" },
  { flags: "--timestamps", help: "the time before each line" },
];

export async function printPodLog(session: VerbSession, object: string): Promise<void> {
  const { io, args, client } = session;
  const [pod, ...others] = await podsNamed(session, object);
  if (pod === undefined) throw new Error(`${object} has no pods`);
  if (others.length > 0)
    io.stderr(`Found ${String(others.length + 1)} pods, using pod/${pod.metadata.name}\n`);
  const container = containerOf(session, pod);
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
