/** The composition root: the only place that wires the parts of a cluster into one process. */
import { mkdir } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import type { Log } from "../base/log.ts";
import type { Loop } from "../base/loop.ts";
import { createMetrics } from "../base/prom-metrics.ts";
import { conversions, kinds } from "../resources/index.ts";
import { openPki, serverNames } from "../server/pki/pki.ts";
import type { Pki } from "../server/pki/pki.ts";
import { createApiServer } from "../server/server.ts";
import { listen } from "../server/transport/listener.ts";
import type { Listener } from "../server/transport/listener.ts";
import { createUpkeep } from "../server/upkeep/house.ts";
import { firstServiceAddress } from "../server/upkeep/kubernetes-service.ts";
import type { Store } from "../store/store.ts";
import { serverUrl, writeKubeconfig } from "./kubeconfig.ts";
import { openStore } from "./open-store.ts";
import type { ClusterOptions, StoreOptions } from "./options.ts";
import { servedVersions } from "./runtime-config.ts";

/** What a cluster tells whoever runs it; `setpoint up --json` prints exactly these. */
export type ClusterEvent =
  | {
      readonly event: "ready";
      readonly server: string;
      readonly kubeconfig: string;
      readonly store: StoreOptions["type"];
      readonly dataDir: string;
      readonly revision: number;
    }
  | { readonly event: "stopped" };

export interface ClusterSurroundings {
  readonly loop: Loop;
  readonly log: Log;
  /** Aborted when the cluster shall end. */
  readonly signal: AbortSignal;
  readonly report: (event: ClusterEvent) => void;
}

/** What is under way when the cluster ends has this long: `up` ends within 5 seconds of SIGTERM. */
const GRACE_MS = 3000;

/** Runs a cluster until the signal is aborted; resolves when everything it started has stopped, rejects when it broke. */
export async function runCluster(options: ClusterOptions, surroundings: ClusterSurroundings): Promise<void> {
  const { loop, log, signal, report } = surroundings;
  signal.throwIfAborted();
  await loop.outside("file", mkdir(options.dataDir, { recursive: true, mode: 0o700 }));
  const [store, pki] = await Promise.all([
    openStore(options, { loop: loop.child("store"), log }),
    openPki({ dir: options.pkiDir, names: namesOf(options), loop, log }),
  ]);
  try {
    await serve({ options, surroundings, store, pki });
  } finally {
    await store.close();
  }
  report({ event: "stopped" });
}

interface Running {
  readonly options: ClusterOptions;
  readonly surroundings: ClusterSurroundings;
  readonly store: Store;
  readonly pki: Pki;
}

async function serve({ options, surroundings, store, pki }: Running): Promise<void> {
  const { loop, log, signal, report } = surroundings;
  const server = createApiServer({
    loop: loop.child("server"),
    log,
    store,
    kinds,
    conversions,
    isServed: servedVersions(options.runtimeConfig),
    metrics: createMetrics(),
    tokenKeys: pki.serviceAccount,
    nodePorts: options.nodePorts,
  });
  const listener = await listen({
    loop: loop.child("listener"),
    log,
    handler: server.handler,
    tls: { ...pki.server, ca: pki.ca.cert },
    ...options.listen,
  });
  const upkeep = createUpkeep(server.workshop, {
    serviceCidrs: options.serviceCidrs,
    host: options.listen.host,
    port: listener.port,
    machineAddresses: machineAddresses(),
  });
  const ending = new AbortController();
  let keeping: Promise<void> | undefined;
  try {
    await upkeep.settle();
    report(await ready(options, { listener, pki, store, loop }));
    keeping = upkeep.run(ending.signal);
    await Promise.race([aborted(signal), store.ended, keeping]);
  } finally {
    ending.abort();
    await listener.close({ graceMs: GRACE_MS });
    await Promise.allSettled([keeping]);
  }
}

interface Ready {
  readonly listener: Listener;
  readonly pki: Pki;
  readonly store: Store;
  readonly loop: Loop;
}

async function ready(options: ClusterOptions, { listener, pki, store, loop }: Ready): Promise<ClusterEvent> {
  const server = serverUrl({ host: reachableHost(options.listen.host), port: listener.port });
  const kubeconfig = join(options.dataDir, "kubeconfig");
  const content = { server, ca: pki.ca.cert, user: pki.admin };
  await writeKubeconfig(kubeconfig, content, loop);
  if (options.kubeconfigFile !== undefined) await writeKubeconfig(options.kubeconfigFile, content, loop);
  const { dataDir } = options;
  return {
    event: "ready",
    server,
    kubeconfig: options.kubeconfigFile ?? kubeconfig,
    store: options.store.type,
    dataDir,
    revision: store.view.revision,
  };
}

/** A server that listens everywhere is called by a name that means this machine. */
function reachableHost(host: string): string {
  return host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
}

/** All addresses of this machine belong to the certificate of a server that listens on all of them. */
function namesOf({ listen: { host }, serviceCidrs }: ClusterOptions): readonly string[] {
  const isEverywhere = host === "0.0.0.0" || host === "::";
  return serverNames(isEverywhere ? machineAddresses() : [host], firstServiceAddress(serviceCidrs[0] ?? ""));
}

function machineAddresses(): readonly string[] {
  const interfaces = Object.values(networkInterfaces());
  return interfaces.flatMap((addresses) => addresses?.map(({ address }) => address) ?? []);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
