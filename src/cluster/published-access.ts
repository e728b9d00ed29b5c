/** Files with which clients reach a cluster: kubeconfigs in its data dir, and its context in the user's kubeconfig. */
import { join } from "node:path";
import type { Log } from "../base/log/log.ts";
import type { Loop } from "../base/loop/loop.ts";
import type { KeyPair } from "../server/pki/pki-folder.ts";
import type { Pki } from "../server/pki/pki.ts";
import type { MergedContext } from "./cluster-event.ts";
import { CLUSTER_NAME, writeKubeconfig } from "./kubeconfig/kubeconfig.ts";
import type { KubeconfigOptions } from "./kubeconfig/kubeconfig.ts";
import { KubeconfigLeftAlone, mergeContext, removeContext } from "./kubeconfig/user-kubeconfig.ts";
import type { ClusterOptions } from "./options.ts";

type Place = Pick<ClusterOptions, "dataDir" | "name" | "kubeconfigFile">;

export interface PublishedAccess {
  /** Path of the cluster's own kubeconfig. */
  readonly kubeconfig: string;
  readonly context?: MergedContext;
  readonly contextProblem?: string;
}

export async function publishAccess(
  place: Place,
  { server, pki }: { readonly server: string; readonly pki: Pki },
  loop: Loop,
): Promise<PublishedAccess> {
  const { dataDir, name = CLUSTER_NAME } = place;
  const kubeconfig = join(dataDir, "kubeconfig");
  const access = { name, server, ca: pki.ca.cert };
  const write = ([path, user]: [string, KeyPair]): Promise<void> =>
    writeKubeconfig(path, { ...access, user }, loop);
  const files = { [kubeconfig]: pki.admin, ...componentFiles(dataDir, pki) };
  const [merged] = await Promise.all([
    publishContext(place, { ...access, user: pki.admin }, loop),
    ...Object.entries(files).map(write),
  ]);
  return { kubeconfig, ...merged };
}

/** Kubeconfigs for external components, with kubeadm's file names and in kubeadm's place. */
function componentFiles(dataDir: string, { components }: Pki): Record<string, KeyPair> {
  const entries = Object.entries(components);
  return Object.fromEntries(entries.map(([name, pair]) => [join(dataDir, `${name}.conf`), pair]));
}

/** Merges the context into the user's kubeconfig. A cluster is ready without it, so a failure is only reported. */
async function publishContext(
  { kubeconfigFile: file, dataDir, name = CLUSTER_NAME }: Place,
  access: KubeconfigOptions,
  loop: Loop,
): Promise<Omit<PublishedAccess, "kubeconfig">> {
  if (file === undefined) return {};
  try {
    const { isCurrent } = await mergeContext({ file, loop }, { name, dataDir }, access);
    return { context: { name, file, isCurrent } };
  } catch (error) {
    if (!(error instanceof KubeconfigLeftAlone)) throw error;
    return { contextProblem: error.message };
  }
}

/** Takes the context out of the user's kubeconfig. A failure must not keep the cluster from ending. */
export async function withdrawContext(
  { kubeconfigFile: file, dataDir }: Place,
  { loop, log }: { readonly loop: Loop; readonly log: Log },
): Promise<void> {
  if (file === undefined) return;
  try {
    await removeContext({ file, loop }, dataDir);
  } catch (error) {
    log.warn("the context stays in the kubeconfig", { error });
  }
}
