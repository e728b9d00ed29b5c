/** Finds the kubeconfig of whoever runs the program. */
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import type { Loop } from "../base/loop/loop.ts";
import { findInClusterKubeconfig } from "./in-cluster.ts";
import { KubeconfigError } from "./kubeconfig-fields.ts";
import { mergeKubeconfigs, parseKubeconfig } from "./kubeconfig.ts";
import type { Kubeconfig } from "./kubeconfig.ts";

export interface KubeconfigSearch {
  readonly loop: Loop;
  /** The kubeconfig itself. */
  readonly text?: string;
  /** The only file to look into. */
  readonly file?: string;
  /** Where `KUBECONFIG`, `HOME` and what a pod is told are found; this process's unless given. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where a pod finds its service account, if not where every pod does. */
  readonly serviceAccountDir?: string;
}

/**
 * What is given; else the files that `KUBECONFIG` lists, merged; else `~/.kube/config`; else what a pod is told of its cluster.
 * Rejects with a KubeconfigError of one line that says what to do.
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
  throw new KubeconfigError(`no cluster is known: set KUBECONFIG to a kubeconfig, or put one at ${usual}`);
}

/** Files that are not there are passed over, as by kubectl, but not all of them. */
async function readListed(paths: readonly string[], loop: Loop): Promise<Kubeconfig> {
  const found = await Promise.all(paths.map((path) => readIfThere(resolve(path), loop)));
  const configs = found.filter((config) => config !== undefined);
  if (configs.length > 0) return mergeKubeconfigs(configs);
  throw new KubeconfigError(`KUBECONFIG names no file that is there: ${paths.join(", ")}`);
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
