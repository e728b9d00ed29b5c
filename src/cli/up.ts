import { join } from "node:path";
import { NODES, POD_CIDR } from "../cluster/loops/loops.ts";
import type { ClusterOptions } from "../cluster/options.ts";
import { detachOption, runInBackground } from "./background.ts";
import { eventsOption, parseServerOptions, serverOptions } from "./cluster-options.ts";
import { findText, type Arguments, type Command, type Io, type OptionSpec } from "./command.ts";
import { nodeOptions, parseNodeOptions } from "./node-options.ts";
import { runReported } from "./run-reported.ts";
import { parseMachine, runtimeOptions } from "./runtime-options.ts";
import { parsePodCidrs } from "./server-options.ts";

export const podCidrOption: OptionSpec = {
  flags: "--pod-cidr <ranges>",
  help: "address ranges of pods; each node gets a /24 or /64",
  fallback: POD_CIDR,
};

export const allocateOption: OptionSpec = {
  flags: "--allocate-node-cidrs <boolean>",
  help: "one block of --pod-cidr for each node",
  choices: ["true", "false"],
  fallback: "true",
};

export const upCommand: Command = {
  name: "up",
  usage: [],
  help: "run a cluster in this process until Ctrl-C",
  options: [
    ...serverOptions,
    ...nodeOptions,
    ...runtimeOptions,
    podCidrOption,
    allocateOption,
    detachOption,
    eventsOption,
  ],
  run: (io, args) => {
    const options = parseClusterOptions(io, args);
    if (args.options["detach"] === true) return runInBackground(upCommand, options.dataDir, { io, args });
    return runReported(options, io, args);
  },
};

/** Address ranges of pods, and whether nodes get blocks of them. */
export function parsePodNetwork(
  args: Arguments,
): Required<Pick<ClusterOptions, "podCidrs" | "allocatesNodeCidrs">> {
  return {
    podCidrs: parsePodCidrs(findText(args, "podCidr") ?? POD_CIDR),
    allocatesNodeCidrs: findText(args, "allocateNodeCidrs") !== "false",
  };
}

export function parseClusterOptions(io: Io, args: Arguments): ClusterOptions {
  const server = parseServerOptions(io, args);
  const machine = parseMachine(args);
  return {
    ...server,
    kubeconfigFile: server.kubeconfigFile ?? join(io.homeDir, ".kube", "config"),
    loops: "all",
    ...parseNodeOptions(args, machine?.isDefault === true ? 0 : NODES),
    machine,
    ...parsePodNetwork(args),
  };
}
