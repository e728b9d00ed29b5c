/** Commands that run one component of a control plane as its own process. Each component is a client of an API server. */
import { resolve } from "node:path";
import { parseDuration } from "../api/values/time.ts";
import { createRealLoop } from "../base/loop/real/real-loop.ts";
import {
  runComponent,
  type ElectionTimes,
  type ComponentEvent,
  type ComponentOptions,
} from "../cluster/component.ts";
import type { SigningFiles } from "../cluster/files/signing-files.ts";
import { eventsOption } from "./cluster-options.ts";
import { findText, UsageError, type Arguments, type Command, type Io, type OptionSpec } from "./command.ts";
import { nodeOptions, parseNodeOptions } from "./node-options.ts";
import { allocateOption, parsePodNetwork, podCidrOption } from "./up.ts";

const kubeconfigOption: OptionSpec = {
  flags: "--kubeconfig <file>",
  help: "path of the kubeconfig (default: as kubectl, or in-cluster)",
};

/** Upstream's names and values. A shorter lease fails over sooner and costs the server more requests. */
const electionOptions: readonly OptionSpec[] = [
  {
    flags: "--leader-elect-lease-duration <time>",
    help: "time without renewal after which the lease expires",
    fallback: "15s",
  },
  {
    flags: "--leader-elect-renew-deadline <time>",
    help: "time after which a leader gives up; below lease duration",
    fallback: "10s",
  },
  {
    flags: "--leader-elect-retry-period <time>",
    help: "interval between tries to get or renew the lease",
    fallback: "2s",
  },
];

const accountsOption: OptionSpec = {
  flags: "--use-service-account-credentials",
  help: "one service account per controller, with minimal rights",
};

const signingOptions: readonly OptionSpec[] = [
  {
    flags: "--cluster-signing-cert-file <file>",
    help: "path of the CA certificate that signs approved CSRs",
  },
  { flags: "--cluster-signing-key-file <file>", help: "path of the private key of that CA certificate" },
];

export const controllersCommand: Command = {
  name: "controllers",
  usage: [],
  help: "run the controllers alone, against any Kubernetes",
  options: [
    kubeconfigOption,
    podCidrOption,
    allocateOption,
    accountsOption,
    ...signingOptions,
    ...electionOptions,
    eventsOption,
  ],
  run: (io, args) =>
    run(io, args, {
      ...parseCommon(io, args),
      part: "controllers",
      ...parsePodNetwork(args),
      signing: parseSigning(io, args),
      usesAccounts: args.options["useServiceAccountCredentials"] === true,
    }),
};

/** Refuses a certificate without its key, and the reverse. */
function parseSigning(io: Io, args: Arguments): SigningFiles | undefined {
  const cert = findText(args, "clusterSigningCertFile");
  const key = findText(args, "clusterSigningKeyFile");
  if ((cert === undefined) !== (key === undefined))
    throw new UsageError("--cluster-signing-cert-file and --cluster-signing-key-file must be given together");
  if (cert === undefined || key === undefined) return undefined;
  return { certFile: resolve(io.workingDir, cert), keyFile: resolve(io.workingDir, key) };
}

export const schedulerCommand: Command = {
  name: "scheduler",
  usage: [],
  help: "run the scheduler alone, against any Kubernetes",
  options: [kubeconfigOption, ...electionOptions, eventsOption],
  run: (io, args) => run(io, args, { ...parseCommon(io, args), part: "scheduler" }),
};

/** Nodes that get a port of the machine each unless the user asks for more. */
const NODE_PORTS_MAX = 500;

export const agentCommand: Command = {
  name: "agent",
  usage: [],
  help: "run simulated nodes alone, against any Kubernetes",
  options: [
    kubeconfigOption,
    ...nodeOptions,
    {
      flags: "--node-api <boolean>",
      help: `own API of each node on a port (default: up to ${NODE_PORTS_MAX} nodes)`,
      choices: ["true", "false"],
    },
    { flags: "--node-prefix <name>", help: "prefix of node names: NAME-1, NAME-2 …", fallback: "agent" },
    ...electionOptions,
    eventsOption,
  ],
  run: (io, args) => {
    const nodes = parseNodeOptions(args);
    return run(io, args, {
      ...parseCommon(io, args),
      part: "agent",
      ...nodes,
      nodePrefix: parsePrefix(findText(args, "nodePrefix") ?? "agent"),
      servesApi: parseNodeApi(args, nodes.nodes),
    });
  },
};

function parseNodeApi(args: Arguments, nodes: number): boolean {
  const given = findText(args, "nodeApi");
  return given === undefined ? nodes <= NODE_PORTS_MAX : given === "true";
}

function parseCommon(io: Io, args: Arguments): Pick<ComponentOptions, "kubeconfigFile" | "env" | "election"> {
  const given = findText(args, "kubeconfig");
  return {
    kubeconfigFile: given === undefined ? undefined : resolve(io.workingDir, given),
    env: { ...io.env, HOME: io.homeDir },
    election: parseElection(args),
  };
}

function parseElection(args: Arguments): ElectionTimes {
  const leaseDurationMs = parseTime(args, "lease-duration", 15_000);
  const renewDeadlineMs = parseTime(args, "renew-deadline", 10_000);
  const retryPeriodMs = parseTime(args, "retry-period", 2000);
  if (leaseDurationMs < 1000) throw new UsageError("--leader-elect-lease-duration must be at least 1s");
  if (!(leaseDurationMs > renewDeadlineMs && renewDeadlineMs > retryPeriodMs && retryPeriodMs > 0)) {
    throw new UsageError(
      "--leader-elect-lease-duration must be above --leader-elect-renew-deadline, and that above --leader-elect-retry-period",
    );
  }
  return { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
}

function parseTime(args: Arguments, name: string, fallbackMs: number): number {
  const camel = name.replace(/-(\w)/g, (_dash, letter: string) => letter.toUpperCase());
  const text = findText(args, `leaderElect${camel.charAt(0).toUpperCase()}${camel.slice(1)}`);
  if (text === undefined) return fallbackMs;
  try {
    return Number(parseDuration(text) / 1_000_000n);
  } catch (cause) {
    throw new UsageError(`--leader-elect-${name} must be a duration like 15s, found "${text}"`, { cause });
  }
}

/** Bounds the prefix so that node names made of it stay valid. */
function parsePrefix(text: string): string {
  if (/^[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?$/.test(text)) return text;
  throw new UsageError(
    `--node-prefix must be at most 50 lower-case letters, digits and dashes, found "${text}"`,
  );
}

async function run(io: Io, args: Arguments, options: ComponentOptions): Promise<void> {
  const print = args.options["json"] ? JSON.stringify : textOf;
  const { log, signal } = io;
  await runComponent(options, {
    loop: createRealLoop({ name: options.part, log }),
    log,
    signal,
    report: (event) => io.stdout(`${print(event)}\n`),
  });
}

function textOf(event: ComponentEvent): string {
  switch (event.event) {
    case "started":
      return `setpoint ${event.part} is up for ${event.server} as ${event.identity}. Ctrl-C ends it.`;
    case "leading":
      return "This instance leads and does the work.";
    case "waiting":
      return "This instance is on standby: another instance leads.";
    case "stopped":
      return `setpoint ${event.part} has stopped.`;
  }
}
