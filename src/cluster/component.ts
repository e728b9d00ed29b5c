/** Runs one component of a control plane as its own process, over HTTP against any Kubernetes. */
import { hostname } from "node:os";
import type { ServeNode } from "../agent/http/node-serving.ts";
import type { NodeShape } from "../agent/simulated/node-shape.ts";
import { isApiError } from "../api/errors/api-error.ts";
import type { Log } from "../base/log/log.ts";
import type { Loop } from "../base/loop/loop.ts";
import { untilAborted } from "../base/loop/until-aborted.ts";
import { createMetrics } from "../base/metrics/prom-metrics.ts";
import { readFileText } from "../base/process/read-named-file.ts";
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
import type { BuiltInComponent, LeasedGroup, LoopGroup } from "./loops/loops.ts";
import {
  openAgentEndpoints,
  type AgentEndpoints,
  type AgentEndpointsParts,
} from "./process/agent-endpoints.ts";

export type ComponentOptions = Common &
  (
    | { readonly part: "scheduler" }
    | {
        readonly part: "controllers";
        readonly podCidrs: readonly string[];
        /** Whether nodes get blocks of `podCidrs`; default true. */
        readonly allocatesNodeCidrs?: boolean | undefined;
        /** CA that signs approved certificate requests; without it they stay unsigned. */
        readonly signing?: SigningFiles | undefined;
        /** Whether each loop acts as its own service account; default: all act as the kubeconfig's user. */
        readonly usesAccounts?: boolean;
      }
    | {
        readonly part: "agent";
        readonly nodes: number;
        readonly nodePrefix: string;
        /** Whether API servers reach the nodes' own API, at a port of this machine for each node. */
        readonly servesApi: boolean;
        /** Shapes of the nodes, assigned in turn; default: eight cores and 32 GiB. */
        readonly nodeShapes?: readonly NodeShape[] | undefined;
      }
  );

interface Common {
  /** Path of the kubeconfig; undefined searches the usual places. */
  readonly kubeconfigFile: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly election: ElectionTimes;
}

export type ElectionTimes = Required<
  Pick<LeaderElectionOptions, "leaseDurationMs" | "renewDeadlineMs" | "retryPeriodMs">
>;

type ComponentName = BuiltInComponent | "agent";

/** Lifecycle event of a component; `--json` prints exactly these. */
export type ComponentEvent =
  | {
      readonly event: "started";
      readonly part: ComponentName;
      readonly server: string;
      readonly identity: string;
    }
  /** This instance has become the leader; the others wait. */
  | { readonly event: "leading"; readonly part: ComponentName }
  | { readonly event: "waiting"; readonly part: ComponentName }
  | { readonly event: "stopped"; readonly part: ComponentName };

export interface ComponentSurroundings {
  readonly loop: Loop;
  readonly log: Log;
  /** Aborts to stop the component. */
  readonly signal: AbortSignal;
  readonly report: (event: ComponentEvent) => void;
}

/** Upper bound of the wait for a server that starts at the same time; equals upstream's. */
const SERVER_WAIT_MS = 10_000;
const SERVER_RETRY_MS = 250;
/** Time before the first warning about a server that does not answer. */
const SERVER_SILENCE_MS = 900;

/** Runs the component until the signal aborts. Resolves when everything it started has stopped; rejects when it fails. */
export async function runComponent(
  options: ComponentOptions,
  surroundings: ComponentSurroundings,
): Promise<void> {
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
  let endpoints: AgentEndpoints | undefined;
  try {
    if (!(await isServed(connection, endpoint, surroundings))) return;
    const identity = `${hostname()}_${loop.random("identity").uuid()}`;
    const { transport, client } = connection;
    const clientAs = (actor: string): Client => accounts?.clientAs(actor) ?? client;
    const metrics = createMetrics();
    endpoints = await openNodeApi(options, endpoint, { loop, log, metrics, client });
    const { serve } = endpoints ?? {};
    const { lease, ...loops } = await groupOf(options, endpoint, { loop, serve });
    const group: LoopGroup = {
      ...loops,
      routines: [...(loops.routines ?? []), leadRoutine(part, surroundings)],
      lease: { ...lease, ...options.election },
    };
    report({ event: "started", part, server: endpoint.server, identity });
    await manage(group, { transport, client, clientAs, identity, loop, log, metrics }).run(signal);
  } finally {
    endpoints?.close();
    await accounts?.close();
    await connection.close();
  }
  report({ event: "stopped", part });
}

/** Undefined for a component whose nodes have no API of their own. */
async function openNodeApi(
  options: ComponentOptions,
  endpoint: Endpoint,
  parts: Pick<AgentEndpointsParts, "loop" | "log" | "metrics" | "client">,
): Promise<AgentEndpoints | undefined> {
  if (options.part !== "agent" || !options.servesApi) return undefined;
  const clientCa = await readAuthority(endpoint, parts.loop);
  return openAgentEndpoints({ ...parts, server: endpoint.server, clientCa });
}

async function groupOf(
  options: ComponentOptions,
  endpoint: Endpoint,
  { loop, serve }: { readonly loop: Loop; readonly serve: ServeNode | undefined },
): Promise<LeasedGroup> {
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
      const { nodes, nodePrefix, nodeShapes } = options;
      // One process at a time runs the nodes of one prefix.
      const lease = { ...NODES_LEASE, name: `${NODES_LEASE.name}-${nodePrefix}` };
      return { ...nodeLoops(nodes, { prefix: nodePrefix, shapes: nodeShapes, serve }), lease };
    }
  }
}

/** PEM of the kubeconfig's CA, which pods get too; empty for a CA that every machine trusts. */
async function readAuthority({ ca }: Endpoint, loop: Loop): Promise<string> {
  if (ca === undefined) return "";
  return "text" in ca ? ca.text : loop.outside("file", readFileText(ca.file));
}

/** Reports when this instance becomes the leader and when it stops leading. */
function leadRoutine(part: ComponentName, { signal, report }: ComponentSurroundings): Routine {
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

/** Prefixes of the error codes that OpenSSL and Node.js give for certificate errors. */
const MISTRUST = ["CERT_", "DEPTH_ZERO_", "ERR_TLS_CERT", "SELF_SIGNED_", "UNABLE_TO_"];

/** Error text for an untrusted or mismatched server certificate, which no retry can fix; otherwise undefined. */
function findMistrust(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof Error) || !("code" in cause)) return undefined;
  const code = String(cause.code);
  return MISTRUST.some((beginning) => code.startsWith(beginning)) ? cause.message : undefined;
}

/**
 * Waits until the server answers; false when the signal aborted first. Rejects with a one-line remedy when it does not
 * answer in time, refuses this user, or has an untrusted certificate.
 */
async function isServed(
  { transport }: Connection,
  { server }: Endpoint,
  { loop, log, signal }: ComponentSurroundings,
): Promise<boolean> {
  const late = new AbortController();
  // No retries in the client, so that permanent errors show at once.
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
  /** Aborts at the end of the wait, even during a request: a server can accept a connection and never answer. */
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
