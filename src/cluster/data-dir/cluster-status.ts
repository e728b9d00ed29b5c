/** Reads the status of a data dir's cluster and stops it, from another process. */
import type { Node } from "../../api/generated/types/core-v1.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import { errorText } from "../../base/error-text.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { requireOwnFolder } from "../../base/process/private-path.ts";
import { connect } from "../../client/connection.ts";
import { PROCESS_ISOLATION, PROCESS_NODE } from "../../resources/pod/process-runtime.ts";
import { CLUSTER_NAME } from "../kubeconfig/kubeconfig.ts";
import { removeContext } from "../kubeconfig/user-kubeconfig.ts";
import type { StoreOptions } from "../options.ts";
import { findRecord, findRunning, isAlive, removeRunFile } from "./run-file.ts";
import type { RunRecord } from "./run-file.ts";

export type ClusterStatus =
  | { readonly state: "stopped"; readonly dataDir: string }
  /** The process is alive and has not published its address yet. */
  | { readonly state: "starting"; readonly dataDir: string; readonly pid: number }
  | (Found & Readiness & { readonly state: "ready" })
  /** The process is alive, and its server does not answer or reports an error. */
  | (Found & { readonly state: "unready"; readonly reason: string });

interface Readiness {
  readonly revision: number;
  /** Number of nodes, Ready or not. */
  readonly nodes: number;
  readonly processPods?: ProcessPods;
}

/** The node of the machine, if the cluster has one, and how far its pods are separated. */
export interface ProcessPods {
  readonly node: string;
  readonly hasNamespaces: boolean;
  readonly message: string;
}

interface Found {
  readonly dataDir: string;
  readonly pid: number;
  readonly server: string;
  readonly kubeconfig: string;
  readonly store: StoreOptions["type"];
  /** Name of the cluster. */
  readonly name: string;
}

/** Timeout of a request; a healthy server answers at once. */
const ANSWER_MS = 3000;

/** Upper bound of the wait: `up` ends within this time of SIGTERM. */
const END_MS = 5000;
const LOOK_MS = 50;
const PROGRESS_MS = 1000;

export async function readStatus(dataDir: string, loop: Loop): Promise<ClusterStatus> {
  const record = await findRunning(dataDir, loop);
  if (record === undefined) return { state: "stopped", dataDir };
  const { pid, server, kubeconfig, store, name = CLUSTER_NAME } = record;
  if (server === undefined || kubeconfig === undefined) return { state: "starting", dataDir, pid };
  const found = { dataDir, pid, server, kubeconfig, store, name };
  try {
    return { state: "ready", ...found, ...(await readReady(kubeconfig, loop)) };
  } catch (error) {
    return { state: "unready", ...found, reason: errorText(error) };
  }
}

/** Rejects unless the server reports that it is ready. */
async function readReady(kubeconfig: string, loop: Loop): Promise<Readiness> {
  const connection = await connect({ loop, file: kubeconfig, timeoutMs: ANSWER_MS });
  const { transport } = connection;
  try {
    const ready = await transport.read({ method: "GET", path: "/readyz" });
    if (ready.code !== 200) throw new Error(`/readyz answers ${String(ready.code)}`);
    const path = "/api/v1/nodes";
    const list = await transport.send({ method: "GET", path, query: { limit: "1" } });
    const metadata = isJsonObject(list.value) ? list.value["metadata"] : undefined;
    if (!isJsonObject(metadata)) throw new Error(`a list of nodes answers ${String(list.code)}`);
    const machines = await transport.send({ method: "GET", path, query: { labelSelector: PROCESS_NODE } });
    const processPods = processPodsOf(machines.value);
    const { resourceVersion, remainingItemCount = 0 } = metadata;
    const nodes = nodesIn(list.value).length + Number(remainingItemCount);
    return { revision: Number(resourceVersion), nodes, ...(processPods && { processPods }) };
  } finally {
    await connection.close();
  }
}

function nodesIn(list: unknown): readonly Node[] {
  return isJsonObject(list) && Array.isArray(list["items"]) ? (list["items"] as Node[]) : [];
}

function processPodsOf(list: unknown): ProcessPods | undefined {
  const [node] = nodesIn(list);
  const condition = node?.status.conditions?.find(({ type }) => type === PROCESS_ISOLATION);
  if (node === undefined || condition === undefined) return undefined;
  const { status, message = "" } = condition;
  return { node: node.metadata.name, hasNamespaces: status === "True", message };
}

export interface StopOptions {
  readonly loop: Loop;
  /** Path of a kubeconfig that may have the context of a cluster that was killed. */
  readonly userKubeconfig: string;
  /** Called when the signal is sent, and once a second until the process has ended. */
  readonly onWait: (pid: number, waitedMs: number) => void;
}

/** Stops the cluster as Ctrl-C would. Returns the process that ended, or undefined when none ran. Rejects on timeout. */
export async function stopCluster(
  dataDir: string,
  { loop, userKubeconfig, onWait }: StopOptions,
): Promise<number | undefined> {
  const record = await findRunning(dataDir, loop);
  if (record === undefined) {
    await clearAfterCrash(dataDir, userKubeconfig, loop);
    return undefined;
  }
  // Another user could name any process of this user in the record.
  await loop.outside("file", requireOwnFolder(dataDir));
  const { pid } = record;
  signalEnd(record);
  onWait(pid, 0);
  const begunAt = loop.elapsed();
  let told = 1;
  while (await isAlive(record, loop)) {
    const waitedMs = loop.elapsed() - begunAt;
    if (waitedMs >= END_MS) {
      throw new Error(
        `process ${String(pid)} has not ended within ${String(END_MS / 1000)} s: kill -9 ${String(pid)} ends it and loses nothing that was acknowledged`,
      );
    }
    if (waitedMs >= told * PROGRESS_MS) onWait(pid, told++ * PROGRESS_MS);
    await new Promise<void>((resolve) => {
      loop.timer(loop.now() + LOOK_MS, "progress", resolve);
    });
  }
  return pid;
}

/** Removes the context and the record that a killed process left. */
async function clearAfterCrash(dataDir: string, userKubeconfig: string, loop: Loop): Promise<void> {
  const left = await findRecord(dataDir, loop);
  await removeContext({ file: left?.mergedInto ?? userKubeconfig, loop }, dataDir);
  await removeRunFile(dataDir, loop);
}

function signalEnd({ pid }: RunRecord): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    // The process has ended meanwhile.
    if (code === "ESRCH") return;
    throw new Error(`process ${String(pid)} may not be ended by this user: run setpoint down as its owner`, {
      cause: error,
    });
  }
}
