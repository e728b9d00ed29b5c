/** Finds the kubeconfig of the user, or of the pod, that runs the program. */
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import type { Loop } from "../base/loop/loop.ts";
import { findInClusterKubeconfig } from "./in-cluster.ts";
import { KubeconfigError, MissingKubeconfigError } from "./kubeconfig-fields.ts";
import { mergeKubeconfigs, parseKubeconfig } from "./kubeconfig.ts";
import type { Kubeconfig } from "./kubeconfig.ts";

/** Where to look for a kubeconfig. */
export interface KubeconfigSearch {
  /** Source of time; runs the file reads. */
  readonly loop: Loop;
  /** The text of a kubeconfig; no file is read. */
  readonly text?: string;
  /** Path of the kubeconfig; no other file is read. */
  readonly file?: string;
  /** Environment variables: `KUBECONFIG`, `HOME` and those of a pod. Default: those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Folder of the pod's service account. Default: `/var/run/secrets/kubernetes.io/serviceaccount`. */
  readonly serviceAccountDir?: string;
}

/**
 * Loads `text` or `file` if given. Otherwise it merges the files of `KUBECONFIG`; else it reads `~/.kube/config`;
 * else it uses the pod's service account.
 * Rejects with a KubeconfigError whose message says what to do.
 */
export async function loadKubeconfig(search: KubeconfigSearch): Promise<Kubeconfig> {
  const { loop, text, file, env = process.env } = search;
  if (text !== undefined) return parseKubeconfig(text, { file: resolve("kubeconfig") });
  if (file !== undefined) return readRequired(resolve(file), loop);
  const listed = (env["KUBECONFIG"] ?? "").split(delimiter).filter((path) => path !== "");
  if (listed.length > 0) return readListed(listed, loop);
  const usual = join(env["HOME"] ?? homedir(), ".kube", "config");
  const found = (await readIfThere(usual, loop)) ?? (await findInClusterKubeconfig(search));
  if (found !== undefined) return found;
  throw new MissingKubeconfigError(
    `no cluster is known: set KUBECONFIG to a kubeconfig, or put one at ${usual}`,
  );
}

/** Like kubectl, skips missing files, but requires one that exists. */
async function readListed(paths: readonly string[], loop: Loop): Promise<Kubeconfig> {
  const found = await Promise.all(paths.map((path) => readIfThere(resolve(path), loop)));
  const configs = found.filter((config) => config !== undefined);
  if (configs.length > 0) return mergeKubeconfigs(configs);
  throw new KubeconfigError(`KUBECONFIG names no file that exists: ${paths.join(", ")}`);
}

async function readRequired(path: string, loop: Loop): Promise<Kubeconfig> {
  const config = await readIfThere(path, loop);
  if (config !== undefined) return config;
  throw new KubeconfigError(`there is no kubeconfig at ${path}`);
}

async function readIfThere(path: string, loop: Loop): Promise<Kubeconfig | undefined> {
  try {
    return parseKubeconfig(await loop.outside("file", readFile(path, "utf8")), { file: path });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code === undefined) throw error;
    throw new KubeconfigError(`${path} cannot be read: ${message}`, { cause: error });
  }
}
