/** The kubeconfig of a pod, from its environment and its service account. */
import { readFile } from "node:fs/promises";
import { isIPv6 } from "node:net";
import { join } from "node:path";
import type { Loop } from "../base/loop/loop.ts";
import type { Kubeconfig } from "./kubeconfig.ts";

const SERVICE_ACCOUNT_DIR = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Name of the context, the cluster and the user. */
const NAME = "in-cluster";

export interface PodSurroundings {
  /** Source of time; runs the file reads. */
  readonly loop: Loop;
  /** Environment variables. Default: those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Folder of the service account. Default: the path in every pod. */
  readonly serviceAccountDir?: string;
}

/** Undefined outside of a pod. The token stays a file, so that a rotated token is picked up. */
export async function findInClusterKubeconfig(pod: PodSurroundings): Promise<Kubeconfig | undefined> {
  const { loop, env = process.env, serviceAccountDir: dir = SERVICE_ACCOUNT_DIR } = pod;
  const { KUBERNETES_SERVICE_HOST: host = "", KUBERNETES_SERVICE_PORT: port = "" } = env;
  if (host === "" || port === "") return undefined;
  const namespace = await loop.outside("file", readFile(join(dir, "namespace"), "utf8")).catch(absent);
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const cluster = { server, ca: { file: join(dir, "ca.crt") } };
  const user = { token: { file: join(dir, "token") } };
  return {
    currentContext: NAME,
    contexts: new Map([[NAME, { cluster: NAME, user: NAME, namespace: namespace?.trim() }]]),
    clusters: new Map([[NAME, () => cluster]]),
    users: new Map([[NAME, () => user]]),
  };
}

/** A pod without the file uses the namespace `default`. */
function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT") return undefined;
  throw error;
}
