/** Log files of programs: a folder for each pod, in it one for each container, with a file for each run. */
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { isMissing } from "../logs/log-files.ts";
import { readLog } from "../logs/log-reader.ts";
import type { ContainerPlace, LogQuery } from "../runtime-handler.ts";

export class PodLogs {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Path for the log of a run; its folder exists. Only the log of the run before is kept, as the kubelet does. */
  async make({ pod, container }: LogOwner, attempt: number): Promise<string> {
    const folder = this.#folderOf(pod, container.name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const old = (await namesIn(folder)).filter((name) => (attemptOf(name) ?? attempt) < attempt - 1);
    await Promise.all(old.map((name) => rm(join(folder, name), { force: true })));
    return join(folder, fileOf(attempt));
  }

  /** The log of a run that has ended; undefined if there is none. */
  async read({ pod, container }: LogOwner, { attempt, ...view }: LogQuery): Promise<Readable | undefined> {
    const folder = this.#folderOf(pod, container.name);
    const names = await namesIn(folder);
    const file = fileOf(attempt ?? Math.max(...names.map((name) => attemptOf(name) ?? -1)));
    return names.includes(file) ? readLog(join(folder, file), view) : undefined;
  }

  async remove(pod: Pod): Promise<void> {
    await rm(this.#folderOf(pod), { recursive: true, force: true });
  }

  /** Removes the logs of all pods but those with these uids. */
  async sweep(alive: ReadonlySet<string>): Promise<void> {
    for (const name of await namesIn(this.#folder))
      if (!alive.has(name.slice(name.lastIndexOf("_") + 1)))
        await rm(join(this.#folder, name), { recursive: true, force: true });
  }

  /** In the kubelet's form. */
  #folderOf({ metadata }: Pod, container = ""): string {
    const { namespace = "", name, uid } = metadata;
    return join(this.#folder, `${namespace}_${name}_${uid}`, container);
  }
}

type LogOwner = Pick<ContainerPlace, "pod" | "container">;

function fileOf(attempt: number): string {
  return `${String(attempt)}.log`;
}

/** The run that a file, also a rotated one, belongs to. */
function attemptOf(file: string): number | undefined {
  const [, attempt] = /^(\d+)\.log(?:\.|$)/.exec(file) ?? [];
  return attempt === undefined ? undefined : Number(attempt);
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
}
