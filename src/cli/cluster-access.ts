/**
 * Options of commands that talk to a cluster as kubectl does: `--data-dir`, `--name`, `--kubeconfig`, `--context`. Without any the
 * kubeconfig of `$KUBECONFIG` counts, then the running cluster of this machine, then the files where kubectl looks.
 */
import { join, resolve } from "node:path";
import type { Loop } from "../base/loop/loop.ts";
import { connect, type Connection, type ConnectOptions } from "../client/connection.ts";
import { MissingKubeconfigError } from "../client/kubeconfig-fields.ts";
import { loadKubeconfig } from "../client/kubeconfig-files.ts";
import { findRunning } from "../cluster/data-dir/run-file.ts";
import { homeOf, nameOption, parsePlace, dataDirOption } from "./cluster-place.ts";
import { findText, UsageError, type Arguments, type Io, type OptionSpec } from "./command.ts";
import { programCall } from "./program-call.ts";

export const accessOptions: readonly OptionSpec[] = [
  dataDirOption,
  { flags: nameOption.flags, help: "name of a cluster of this machine" },
  { flags: "--kubeconfig <file>", help: "path of the kubeconfig (default: as kubectl)" },
  { flags: "--context <name>", help: "context of the kubeconfig (default: the current one)" },
];

/** A kubeconfig to read. Without a file it is searched as kubectl does. */
export interface ClusterAccess {
  readonly file?: string;
  readonly context?: string;
}

/** Connects to the cluster that the options name. Rejects with a remedy when there is none. The caller closes it. */
export async function connectAs(
  io: Io,
  args: Arguments,
  { loop, onWarning }: { readonly loop: Loop } & Pick<ConnectOptions, "onWarning">,
): Promise<Connection> {
  const { file, context } = await findAccess(io, args, loop);
  const kubeconfig = await loadKubeconfig({
    loop,
    env: { ...io.env, HOME: io.homeDir },
    ...(file !== undefined && { file }),
  }).catch((error: unknown) => {
    if (error instanceof MissingKubeconfigError) throw noCluster(io, error);
    throw error;
  });
  // `down` leaves a kubeconfig without contexts.
  if (file === undefined && kubeconfig.contexts.size === 0) throw noCluster(io);
  return connect({
    loop,
    kubeconfig,
    ...(context !== undefined && { context }),
    ...(onWarning !== undefined && { onWarning }),
  });
}

/** The kubeconfig and the context that the options name. */
export async function findAccess(io: Io, args: Arguments, loop: Loop): Promise<ClusterAccess> {
  const file = findText(args, "kubeconfig");
  const context = findText(args, "context");
  const isOurs = args.options["dataDir"] !== undefined || args.options["name"] !== undefined;
  if (isOurs && (file !== undefined || context !== undefined))
    throw new UsageError("--data-dir and --name cannot be given together with --kubeconfig or --context");
  if (isOurs) return { file: await runningKubeconfig(parsePlace(io, args).dataDir, loop) };
  if (file !== undefined || context !== undefined)
    return {
      ...(file !== undefined && { file: resolve(io.workingDir, file) }),
      ...(context !== undefined && { context }),
    };
  if (io.env["KUBECONFIG"]) return {};
  const home = homeOf(io);
  const running = await findRunning(home, loop);
  return running === undefined ? {} : { file: join(home, "kubeconfig") };
}

function noCluster(io: Io, cause?: Error): Error {
  return new Error(`no cluster is known: start one with ${programCall(io)} up, or set KUBECONFIG`, { cause });
}

async function runningKubeconfig(dataDir: string, loop: Loop): Promise<string> {
  if ((await findRunning(dataDir, loop)) !== undefined) return join(dataDir, "kubeconfig");
  throw new Error(`no cluster runs in ${dataDir}: start one with setpoint up --data-dir ${dataDir}`);
}
