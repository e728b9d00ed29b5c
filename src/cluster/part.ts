/** One part of a control plane as a process of its own: against any Kubernetes that a kubeconfig names, over HTTP. */
import { hostname } from "node:os";
import { isApiError } from "../api/errors/api-error.ts";
import type { Log } from "../base/log/log.ts";
import type { Loop } from "../base/loop/loop.ts";
import { untilAborted } from "../base/loop/until-aborted.ts";
import { createMetrics } from "../base/metrics/prom-metrics.ts";
import { readNamedText } from "../base/process/read-file.ts";
import { createClient } from "../client/api-client.ts";
import type { Client } from "../client/client.ts";
import { connect } from "../client/connection.ts";
import type { Connection } from "../client/connection.ts";
import type { Endpoint } from "../client/endpoint.ts";
import { loadKubeconfig } from "../client/kubeconfig-files.ts";
import { resolveContext } from "../client/kubeconfig.ts";
import type { LeaderElectionOptions } from "../runtime/manager/leader-election.ts";
import type { Routine } from "../runtime/manager/routine.ts";
import { warnOfExposure } from "./files/credential-files.ts";
import { openSigner } from "./files/signing-files.ts";
import type { SigningFiles } from "./files/signing-files.ts";
import { AccountClients } from "./loops/account-clients.ts";
import { builtInGroups, manage, nodeLoops, NODES_LEASE } from "./loops/loops.ts";
import type { BuiltInPart, LeasedGroup, LoopGroup } from "./loops/loops.ts";

export type PartOptions = Common &
  (
    | { readonly part: "scheduler" }
    | {
        readonly part: "controllers";
        readonly podCidrs: readonly string[];
        /** Whether nodes get blocks of them; they do unless given. */
        readonly allocatesNodeCidrs?: boolean | undefined;
        /** With which requests for certificates are signed; without it they are not. */
        readonly signing?: SigningFiles | undefined;
        /** Each loop works as its own service account; all work as the user of the kubeconfig unless given. */
        readonly usesAccounts?: boolean;
      }
    | { readonly part: "agent"; readonly nodes: number; readonly nodePrefix: string }
  );

interface Common {
  /** Where the usual places are looked through unless given. */
  readonly kubeconfigFile: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly election: ElectionTimes;
}

export type ElectionTimes = Required<
  Pick<LeaderElectionOptions, "leaseDurationMs" | "renewDeadlineMs" | "retryPeriodMs">
>;

type PartName = BuiltInPart | "agent";

/** What a part tells whoever runs it; `--json` prints exactly these. */
export type PartEvent =
  | { readonly event: "started"; readonly part: PartName; readonly server: string; readonly identity: string }
  /** From now on this instance does the work; others wait. */
  | { readonly event: "leading"; readonly part: PartName }
  | { readonly event: "waiting"; readonly part: PartName }
  | { readonly event: "stopped"; readonly part: PartName };

export interface PartSurroundings {
  readonly loop: Loop;
  readonly log: Log;
  /** Aborted when the part shall end. */
  readonly signal: AbortSignal;
  readonly report: (event: PartEvent) => void;
}

/** A server that starts at the same time is waited for, for as long as upstream's components wait. */
const SERVER_WAIT_MS = 10_000;
const SERVER_RETRY_MS = 250;
/** So long nobody need be told what is waited for. */
const SERVER_SILENCE_MS = 900;

/** Runs the part until the signal is aborted; resolves when everything it started has stopped, rejects when it broke. */
export async function runPart(options: PartOptions, surroundings: PartSurroundings): Promise<void> {
  const { loop, log, signal, report } = surroundings;
  const { part, kubeconfigFile, env } = options;
  await warnOfExposure(kubeconfigFile === undefined ? [] : [kubeconfigFile], { loop, log });
  const kubeconfig = await loadKubeconfig({
    loop,
    env,
    ...(kubeconfigFile !== undefined && { file: kubeconfigFile }),
  });
  const { endpoint } = resolveContext(kubeconfig);
  const userAgent = `setpoint-${part}`;
  const connection = await connect({ loop, kubeconfig, userAgent });
  const accounts =
    options.part === "controllers" && options.usesAccounts === true
      ? new AccountClients({ client: connection.client, endpoint, loop, userAgent })
      : undefined;
  try {
    if (!(await isServed(connection, endpoint, surroundings))) return;
    const identity = `${hostname()}_${loop.random("identity").uuid()}`;
    const { transport, client } = connection;
    const clientAs = (actor: string): Client => accounts?.clientAs(actor) ?? client;
    const { lease, controllers = [], routines = [] } = await groupOf(options, endpoint, loop);
    const group: LoopGroup = {
      controllers,
      routines: [...routines, leadRoutine(part, surroundings)],
      lease: { ...lease, ...options.election },
    };
    report({ event: "started", part, server: endpoint.server, identity });
    const metrics = createMetrics();
    await manage(group, { transport, client, clientAs, identity, loop, log, metrics }).run(signal);
  } finally {
    await accounts?.close();
    await connection.close();
  }
  report({ event: "stopped", part });
}

async function groupOf(options: PartOptions, endpoint: Endpoint, loop: Loop): Promise<LeasedGroup> {
  switch (options.part) {
    case "scheduler":
      return builtInGroups("all").scheduler;
    case "controllers": {
      const ca = await readAuthority(endpoint, loop);
      const { podCidrs, allocatesNodeCidrs = true, signing } = options;
      const signer = signing === undefined ? {} : { signer: await openSigner(signing, loop) };
      return builtInGroups("all", { podCidrs, allocatesNodeCidrs, ...signer, ca }).controllers;
    }
    case "agent": {
      const { nodes, nodePrefix } = options;
      // Nodes of one name are run by one process at a time.
      const lease = { ...NODES_LEASE, name: `${NODES_LEASE.name}-${nodePrefix}` };
      return { ...nodeLoops(nodes, { prefix: nodePrefix }), lease };
    }
  }
}

/** Pods are told to trust whom the kubeconfig trusts. They wait until they are told, so that nobody is told as well. */
async function readAuthority({ ca }: Endpoint, loop: Loop): Promise<string> {
  if (ca === undefined) return "";
  return "text" in ca ? ca.text : loop.outside("file", readNamedText(ca.file));
}

/** Runs while this instance leads, and says so. */
function leadRoutine(part: PartName, { signal, report }: PartSurroundings): Routine {
  return {
    name: "lead-report",
    reads: [],
    run: async (_parts, lead) => {
      report({ event: "leading", part });
      await untilAborted(lead);
      if (!signal.aborted) report({ event: "waiting", part });
    },
  };
}

/** How OpenSSL and Node.js name what is wrong with a certificate, by how the names begin. */
const MISTRUST = ["CERT_", "DEPTH_ZERO_", "ERR_TLS_CERT", "SELF_SIGNED_", "UNABLE_TO_"];

/** Undefined unless somebody answers whose certificate is of no authority that is trusted, or of another name: waiting changes nothing. */
function findMistrust(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof Error) || !("code" in cause)) return undefined;
  const code = String(cause.code);
  return MISTRUST.some((beginning) => code.startsWith(beginning)) ? cause.message : undefined;
}

/**
 * Whether the server answers; false when the signal was aborted first. Rejects with one line that says what to do when nobody answers in
 * time, or somebody who does not know this user or is not known to it.
 */
async function isServed(
  { transport }: Connection,
  { server }: Endpoint,
  { loop, log, signal }: PartSurroundings,
): Promise<boolean> {
  const late = new AbortController();
  // What is hopeless shall be told at once.
  const client = createClient(transport, { loop, retry: "none" });
  const timers = [
    loop.timer(loop.now() + SERVER_SILENCE_MS, "progress", () =>
      log.warn("the server does not answer yet, trying again", { server }),
    ),
    loop.timer(loop.now() + SERVER_WAIT_MS, "progress", () => late.abort()),
  ];
  try {
    return await untilServed(client, server, { loop, ending: signal, late: late.signal });
  } finally {
    for (const timer of timers) timer.cancel();
  }
}

interface ServerWait {
  readonly loop: Loop;
  readonly ending: AbortSignal;
  /** Aborted when it has been waited for long enough, also in the middle of a try: a server can take a connection and say nothing. */
  readonly late: AbortSignal;
}

async function untilServed(client: Client, server: string, wait: ServerWait): Promise<boolean> {
  const { loop, ending, late } = wait;
  const signal = AbortSignal.any([ending, late]);
  for (;;) {
    try {
      await client.request({ path: "/version", signal });
      return true;
    } catch (error) {
      if (ending.aborted) return false;
      throwIfHopeless(error, server);
      if (late.aborted)
        throw new Error(`no API server answers at ${server}: start it, or name another with --kubeconfig`, {
          cause: error,
        });
    }
    await new Promise<void>((resolve) => {
      loop.timer(loop.now() + SERVER_RETRY_MS, "progress", resolve);
    });
  }
}

function throwIfHopeless(error: unknown, server: string): void {
  if (isApiError(error, "Unauthorized"))
    throw new Error(`${server} does not know the user of the kubeconfig: use one of this cluster`, {
      cause: error,
    });
  const mistrust = findMistrust(error);
  if (mistrust === undefined) return;
  throw new Error(
    `the kubeconfig does not trust the certificate of ${server} (${mistrust}): use one of this cluster`,
    { cause: error },
  );
}
