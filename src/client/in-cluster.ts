/** What a pod is told of the cluster it runs in. */
import { readFile } from "node:fs/promises";
import { isIPv6 } from "node:net";
import { join } from "node:path";
import type { Loop } from "../base/loop/loop.ts";
import type { Kubeconfig } from "./kubeconfig.ts";

const SERVICE_ACCOUNT_DIR = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Of the context, the cluster and the user. */
const NAME = "in-cluster";

export interface PodSurroundings {
  readonly loop: Loop;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly serviceAccountDir?: string;
}

/** Undefined outside of a pod. The token is read again as it is exchanged. */
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

/** A pod without it takes the namespace `default`. */
function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT") return undefined;
  throw error;
}
