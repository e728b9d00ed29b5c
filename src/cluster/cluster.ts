/** Composition root: wires the parts of a cluster into one process. No other file does. */
import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import type { StaticPods } from "../agent/static/static-pod.ts";
import { VOLUME_FOLDER } from "../agent/volumes/host-path.ts";
import { findCidr, type IpAddress } from "../api/values/ip-address.ts";
import type { Log } from "../base/log/log.ts";
import { teeLog } from "../base/log/tee-log.ts";
import type { Loop } from "../base/loop/loop.ts";
import { untilAborted } from "../base/loop/until-aborted.ts";
import type { Metrics } from "../base/metrics/metrics.ts";
import { createMetrics } from "../base/metrics/prom-metrics.ts";
import { certificateSigner } from "../controllers/certificates/certificate-signer.ts";
import { runAll } from "../runtime/manager/run-all.ts";
import { openEncryption } from "../server/objects/encryption/open-encryption.ts";
import type { OpenedEncryption } from "../server/objects/encryption/open-encryption.ts";
import { createFile } from "../server/pki/files.ts";
import { openPki, serverNames } from "../server/pki/pki.ts";
import type { Pki } from "../server/pki/pki.ts";
import { isUrgent } from "../server/request/parse-request.ts";
import { openAudit } from "../server/stages/audit/audit-trail.ts";
import type { AuditTrail } from "../server/stages/audit/audit-trail.ts";
import { listen } from "../server/transport/listener.ts";
import type { Listener } from "../server/transport/listener.ts";
import { firstServiceAddress } from "../server/upkeep/bootstrap/kubernetes-service.ts";
import type { Store } from "../store/store.ts";
import type { ClusterEvent, ClusterSummary, StoppedEvent } from "./cluster-event.ts";
import { ControlPlane } from "./control-plane/control-plane.ts";
import { LocalKubelets } from "./control-plane/local-kubelets.ts";
import { INSTANCE_FILE, openDataDir } from "./data-dir/data-dir.ts";
import { openStore } from "./data-dir/open-store.ts";
import { claimDataDir, removeRunFile, writeRunFile } from "./data-dir/run-file.ts";
import type { RunRecord } from "./data-dir/run-file.ts";
import { readAudit } from "./files/audit-files.ts";
import { LiveCertificates } from "./files/certificate-reload.ts";
import { credentialFiles, warnOfExposure } from "./files/credential-files.ts";
import { keepReloaded } from "./files/file-reload.ts";
import type { ReloadedFile } from "./files/file-reload.ts";
import { readServerOptions } from "./files/server-options.ts";
import { requireFreeAddress } from "./free-address.ts";
import { CLUSTER_NAME, serverUrl } from "./kubeconfig/kubeconfig.ts";
import { readComponentLog } from "./logs/component-log-reader.ts";
import {
  componentLogFile,
  componentOf,
  type ComponentLogs,
  type LogComponent,
} from "./logs/component-logs.ts";
import { componentPods } from "./logs/component-pods.ts";
import { builtInGroups, FIRST_NODE, nodeLoops, NODES_LEASE } from "./loops/loops.ts";
import type { LoopGroup, MachineNode } from "./loops/loops.ts";
import { machineNode } from "./loops/machine-node.ts";
import type { ClusterOptions } from "./options.ts";
import { exportProcessMetrics } from "./process/process-metrics.ts";
import { KUBERNETES_VERSION, VERSION } from "./process/version.ts";
import { publishAccess, withdrawContext } from "./published-access.ts";
import { untilUsable } from "./readiness.ts";
import { StartPhases } from "./start-phases.ts";
import { SummaryLoop } from "./summary-loop.ts";

export interface ClusterSurroundings {
  readonly loop: Loop;
  /** Receives the messages of all components. */
  readonly log: Log;
  /** Files of the components' messages, opened and closed by `runCluster`; default: none. */
  readonly logs?: ComponentLogs;
  /** Metrics that the loop already uses, so that the server serves them too; default: a registry of the cluster's own. */
  readonly metrics?: Metrics;
  /** Aborts to stop the cluster. */
  readonly signal: AbortSignal;
  readonly report: (event: ClusterEvent) => void;
  /** Receives a summary each second; default: none is made. */
  readonly showSummary?: (summary: ClusterSummary) => void;
}

/** Loops that run beside the server, by their group's name in logs and metrics. */
function groupsOf(
  { options, surroundings, pki }: Running,
  kubelets: LocalKubelets,
  machine: MachineNode | undefined,
): Readonly<Record<string, LoopGroup>> {
  const { loops, podCidrs, allocatesNodeCidrs = true, nodes, nodeShapes: shapes, store, dataDir } = options;
  const loop = surroundings.loop.child("signer");
  const { cert, key } = pki.ca;
  // A CA without its key cannot sign.
  const signer = key === undefined ? {} : { signer: certificateSigner({ cert, key, loop }) };
  const hasNodes = nodes > 0 || machine !== undefined || loops === "all";
  return {
    ...builtInGroups(loops, {
      ...{ podCidrs, allocatesNodeCidrs, ca: cert, ...signer },
      volumeFolder: join(dataDir, VOLUME_FOLDER),
    }),
    // Several servers over one etcd run the same nodes, so they need a lease.
    nodes: {
      ...(hasNodes &&
        nodeLoops(nodes, {
          ...{ families: familiesOf(podCidrs), shapes, machine, dataDir },
          serve: (node) => kubelets.serve(node),
          statics: ownPods(options, surroundings, nodes > 0 ? FIRST_NODE : machine?.setup.name),
        })),
      ...(store.type === "etcd" && { lease: NODES_LEASE }),
    },
  };
}

/** This machine as a node, if that is wanted; `port` is the API server's. */
function machineOf(options: ClusterOptions, loop: Loop, port: number): Promise<MachineNode | undefined> {
  const service = { address: firstServiceAddress(options.serviceCidrs[0] ?? ""), port: HTTPS_PORT };
  const api = { service, server: { host: reachableHost(options.listen.host), port } };
  return machineNode(options, { loop: loop.child("machine"), api });
}

/** The control plane's own pods, on the first node. Without log files there is nothing to show. */
function ownPods(
  { dataDir }: ClusterOptions,
  { loop, logs }: ClusterSurroundings,
  node: string | undefined,
): StaticPods | undefined {
  if (logs === undefined || node === undefined) return undefined;
  return componentPods({
    node,
    loop: loop.child("components"),
    readLog: (component, query) => readComponentLog(componentLogFile(dataDir, component), query, loop),
  });
}

/** Port of the Service `kubernetes`. */
const HTTPS_PORT = 443;

/** Nodes have addresses of the same IP families as their pods. */
function familiesOf(blocks: readonly string[]): readonly IpAddress["family"][] {
  return blocks.flatMap((block) => findCidr(block)?.address.family ?? []);
}

/** Grace period of requests in flight at shutdown: `up` ends within 5 seconds of SIGTERM. */
const GRACE_MS = 3000;

/** Runs a cluster until the signal aborts. Resolves when everything it started has stopped; rejects when a part fails. */
export async function runCluster(options: ClusterOptions, surroundings: ClusterSurroundings): Promise<void> {
  const { loop, logs, signal, report } = surroundings;
  const log = logOf(surroundings, "setpoint");
  const phases = new StartPhases(loop, report);
  signal.throwIfAborted();
  await loop.outside("file", openDataDir(options));
  const record = await claim(options, loop);
  logs?.open();
  try {
    logStarts(options, surroundings);
    await runClaimed({ options, surroundings, record, phases });
    log.info("stopped");
  } finally {
    await removeRunFile(options.dataDir, loop);
    await logs?.close();
  }
  report({ event: "stopped", ...podsLeft(options) });
}

/** Fate of the process pods at the end. */
function podsLeft({ machine }: ClusterOptions): Pick<StoppedEvent, "processPods"> {
  return machine === undefined ? {} : { processPods: machine.keepsPods ? "left running" : "ended" };
}

function logOf({ log, logs }: ClusterSurroundings, component: LogComponent): Log {
  return logs === undefined ? log : teeLog(log, logs.of(component));
}

/** The first line of each log names the program. */
function logStarts({ loops, nodes }: ClusterOptions, surroundings: ClusterSurroundings): void {
  const started: readonly LogComponent[] = [
    "setpoint",
    "store",
    "kube-apiserver",
    ...(loops === "none" ? [] : (["kube-controller-manager", "kube-scheduler"] as const)),
    ...(nodes === 0 ? [] : (["kubelet"] as const)),
  ];
  const program = { version: VERSION, kubernetes: KUBERNETES_VERSION, pid: process.pid };
  for (const component of started) logOf(surroundings, component).info(`${component} starts`, program);
}

/** Writes the run file. The store would also refuse a second process, but without the advice to run `setpoint down`. */
function claim(
  { dataDir, store, name = CLUSTER_NAME, kubeconfigFile }: ClusterOptions,
  loop: Loop,
): Promise<RunRecord> {
  const merged = kubeconfigFile === undefined ? {} : { mergedInto: kubeconfigFile };
  return claimDataDir(dataDir, { store: store.type, name, ...merged }, loop);
}

/** A cluster whose data dir belongs to this process. */
interface Claimed {
  readonly options: ClusterOptions;
  readonly surroundings: ClusterSurroundings;
  readonly record: RunRecord;
  readonly phases: StartPhases;
}

async function runClaimed(claimed: Claimed): Promise<void> {
  const { options, surroundings } = claimed;
  const { loop, metrics = createMetrics() } = surroundings;
  const log = logOf(surroundings, "kube-apiserver");
  const encryption = await openEncryption(options.encryption, loop.child("encryption"));
  const audit = await openAudit(await readAudit(options.audit, loop), {
    loop: loop.child("audit"),
    log,
    metrics,
  });
  try {
    // A restore makes the store, so that a retry after a failure would find one.
    if (options.restoreFile !== undefined) await requireFreeAddress(options.listen, loop);
    const { store, pki } = await openStoreAndKeys(options, { ...surroundings, metrics });
    const hideProcess = exportProcessMetrics(metrics, loop);
    try {
      await serve({ ...claimed, store, pki, encryption, audit, metrics });
    } finally {
      hideProcess();
      await store.close();
    }
  } finally {
    await audit?.close();
  }
}

/**
 * Opens the store and the keys concurrently. If the keys fail, the store is closed: its thread would keep the process
 * alive, and the process would keep the data dir.
 */
async function openStoreAndKeys(
  options: ClusterOptions,
  surroundings: ClusterSurroundings & { readonly metrics: Metrics },
): Promise<{ readonly store: Store; readonly pki: Pki }> {
  const { loop, metrics, signal } = surroundings;
  const storeLog = logOf(surroundings, "store");
  const opening = openStore(options, { loop: loop.child("store"), log: storeLog, metrics, signal });
  const log = logOf(surroundings, "kube-apiserver");
  try {
    const pki = openPki({ dir: options.pkiDir, names: namesOf(options), loop, log });
    const [store] = await Promise.all([opening, pki]);
    return { store, pki: await pki };
  } catch (error) {
    await opening.then((store) => store.close());
    throw error;
  }
}

interface Running extends Claimed {
  readonly store: Store;
  readonly pki: Pki;
  readonly encryption: OpenedEncryption | undefined;
  readonly audit: AuditTrail | undefined;
  readonly metrics: Metrics;
}

async function serve(running: Running): Promise<void> {
  const { options, surroundings, phases, store, pki, encryption, audit, metrics } = running;
  const { loop, signal, showSummary } = surroundings;
  const log = logOf(surroundings, "kube-apiserver");
  phases.storeOpened(store, options);
  await warnOfExposure(credentialFiles(options), { loop, log });
  const certificates = new LiveCertificates(pki);
  const kubelets = new LocalKubelets({ loop, log: logOf(surroundings, "kubelet"), metrics });
  const opened = { pki, certificates, encryption, audit, local: kubelets.nodes };
  const { server, reloaded } = await readServerOptions(options, opened, loop);
  const plane = new ControlPlane({ surroundings: { loop, log, metrics, store }, server, freezes: false });
  const listener = await listen({
    loop: loop.child("listener"),
    log,
    handler: plane.handler,
    isUrgent,
    tls: certificates.tls,
    onHandshakeError: handshakeErrors(metrics),
    ...options.listen,
  });
  const ending = new AbortController();
  let work: Promise<void> | undefined;
  let readying: Promise<void> | undefined;
  try {
    const { host } = options.listen;
    await plane.settle({ host, port: listener.port, machineAddresses: machineAddresses() });
    const url = serverUrl({ host: reachableHost(host), port: listener.port });
    phases.serving(url);
    const machine = await machineOf(options, loop, listener.port);
    const groups = groupsOf(running, kubelets, machine);
    const identity = await identityOf(options, loop);
    const summary = showSummary && new SummaryLoop({ store, loop: loop.child("summary"), show: showSummary });
    const logOfGroup = (group: string): Log => logOf(surroundings, componentOf(group));
    work = runAll(ending.signal, [
      (each) => plane.run(each),
      (each) => plane.runBuiltIn(groups, each, { identity, logOf: logOfGroup, onPass: summary?.onPass }),
      ...(summary === undefined ? [] : [(each: AbortSignal) => summary.run(each)]),
      ...[...reloaded, certificateFile(running, certificates, listener)].map(
        (file) => (each: AbortSignal) =>
          keepReloaded(file, { loop: loop.child("reload"), log, metrics }, each),
      ),
    ]);
    const either = AbortSignal.any([signal, ending.signal]);
    const nodes = options.nodes + (machine === undefined ? 0 : 1);
    readying = becomeReady(running, { plane, server: url, nodes, signal: either });
    const ended = readying.then(() => untilAborted(signal));
    await Promise.race([ended, store.ended, work]);
  } finally {
    ending.abort();
    await Promise.allSettled([readying]);
    await withdrawContext(options, { loop, log: logOf(surroundings, "setpoint") });
    await listener.close({ graceMs: GRACE_MS });
    kubelets.close();
    await Promise.allSettled([work]);
  }
}

function certificateFile(
  { options: { pkiDir }, surroundings: { loop } }: Running,
  certificates: LiveCertificates,
  listener: Listener,
): ReloadedFile {
  const read = (name: string): Promise<string> => loop.outside("file", readFile(join(pkiDir, name), "utf8"));
  return certificates.file(pkiDir, read, (tls) => listener.renew(tls));
}

/**
 * A file store has one process at a time, so its instance keeps one identity for ever: a restart after a kill takes
 * over its own leases without waiting for expiry. Servers that share a store draw an identity each.
 */
async function identityOf({ store, dataDir }: ClusterOptions, loop: Loop): Promise<string | undefined> {
  const text = `setpoint-${loop.random("identity").uuid()}\n`;
  // The file also says that the folder is a data dir.
  const file = await createFile({ path: join(dataDir, INSTANCE_FILE), text, mode: 0o600, loop });
  return store.type === "file" ? file.trim() : undefined;
}

interface Serving {
  readonly plane: ControlPlane;
  readonly server: string;
  /** Number of nodes of this process. */
  readonly nodes: number;
  /** Aborts when the cluster ends. */
  readonly signal: AbortSignal;
}

/** Publishes the cluster once it can be used, and reports that it is ready. */
async function becomeReady(running: Running, { plane, server, nodes, signal }: Serving): Promise<void> {
  const { options, surroundings, record, phases, pki, store } = running;
  const { loop, report } = surroundings;
  const { dataDir, name = CLUSTER_NAME } = options;
  if (options.loops === "all") {
    await untilUsable({ plane, nodes, loop, log: logOf(surroundings, "setpoint"), signal });
    if (!signal.aborted) phases.nodesReady(nodes, options.machine !== undefined);
  }
  if (signal.aborted) return;
  const published = await publishAccess(options, { server, pki }, loop);
  await writeRunFile(dataDir, { ...record, server, kubeconfig: published.kubeconfig }, loop);
  const { revision } = store.view;
  const { type } = options.store;
  report({ event: "ready", name, server, ...published, store: type, dataDir, revision, nodes });
}

/** Host for clients on this machine when the server listens on all addresses. */
function reachableHost(host: string): string {
  return host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
}

/** A server that listens on all addresses has all of them in its certificate. */
function namesOf({ listen: { host }, serviceCidrs }: ClusterOptions): readonly string[] {
  const isEverywhere = host === "0.0.0.0" || host === "::";
  return serverNames(isEverywhere ? machineAddresses() : [host], firstServiceAddress(serviceCidrs[0] ?? ""));
}

function machineAddresses(): readonly string[] {
  const interfaces = Object.values(networkInterfaces());
  return interfaces.flatMap((addresses) => addresses?.map(({ address }) => address) ?? []);
}

function handshakeErrors(metrics: Metrics): () => void {
  const count = metrics
    .counter({
      name: "apiserver_tls_handshake_errors_total",
      help: "Connections whose TLS handshake failed.",
    })
    .bind({});
  return () => count.add();
}
