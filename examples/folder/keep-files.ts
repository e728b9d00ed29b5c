/** The loop: every declared file is on disk with its content. A file changed by hand is repaired. */
import { defineController, indexing, isTrue, watching, withCondition } from "setpoint/runtime";
import type { CacheView, Controller, ReconcileContext } from "setpoint/runtime";
import { File } from "./file.ts";
import type { Folder } from "./folder.ts";

/** A disk sends no reliable event: the loop looks again after this time. */
const LOOK_AGAIN_MS = 2_000;

export function keepFiles(folder: Folder): Controller {
  return defineController<File>({
    name: "keep-files",
    for: File,
    finalizer: "files.example.com/on-disk",
    indexes: [indexing(File, "path", pathsOf)],
    // A file that gives up its path wakes those that wait for it.
    watches: [
      watching(File, ({ before }, cache) =>
        (before === undefined ? [] : pathsOf(before))
          .flatMap((path) => cache(File).indexed("path", path))
          .map(({ metadata }) => metadata),
      ),
    ],
    async reconcile(file, context) {
      const { path } = file.spec;
      const holder = holderOf(path, context.cache(File)) ?? file;
      if (holder.metadata.uid !== file.metadata.uid) {
        await release(file, folder, context);
        const message = `${path} belongs to File ${holder.metadata.name}`;
        return report(file, context, { ready: "False", reason: "PathTaken", message });
      }
      if (file.status?.path !== path) {
        // The status names the path before the file exists, so a crash in between leaves no forgotten file.
        await release(file, folder, context);
        return report(file, context, { ready: "False", reason: "Writing", path });
      }
      const isRepaired = (await write(file, folder)) && wasWritten(file);
      if (isRepaired)
        context.event(file, { type: "Warning", reason: "Repaired", message: `${path} differed on disk` });
      await report(file, context, { ready: "True", reason: "Written", path, isRepaired });
      return { recheckAfterMs: LOOK_AGAIN_MS, timer: "periodic" };
    },
    async finalize(file, context) {
      await release(file, folder, context);
    },
  });
}

/** Whether the file had to be written. */
async function write({ spec }: File, folder: Folder): Promise<boolean> {
  if ((await folder.read(spec.path)) === spec.content) return false;
  await folder.write(spec.path, spec.content);
  return true;
}

/** Whether an earlier pass wrote the declared content: a difference on disk is then not ours. */
function wasWritten({ metadata, status }: File): boolean {
  return isTrue(status?.conditions, "Ready") && status?.observedGeneration === metadata.generation;
}

/** Paths that the file wants or has. */
function pathsOf({ spec, status }: File): readonly string[] {
  return [...new Set([spec.path, status?.path ?? spec.path])];
}

/** The File that may write this path: the one that has it, else the first in order of age and name. */
function holderOf(path: string, files: CacheView<File>): File | undefined {
  const order = (file: File): string =>
    [file.status?.path === path ? "0" : "1", file.metadata.creationTimestamp, file.metadata.name].join(" ");
  const [first] = files
    .indexed("path", path)
    .toSorted((left, right) => (order(left) < order(right) ? -1 : 1));
  return first;
}

/** Removes the file from the path that it has. */
async function release(
  { metadata, status }: File,
  folder: Folder,
  { cache }: ReconcileContext,
): Promise<void> {
  const path = status?.path;
  if (path === undefined || holderOf(path, cache(File))?.metadata.uid !== metadata.uid) return;
  await folder.remove(path);
}

interface Report {
  readonly ready: "True" | "False";
  readonly reason: string;
  readonly message?: string;
  readonly path?: string;
  readonly isRepaired?: boolean;
}

async function report(
  file: File,
  { clock, updateStatus }: ReconcileContext,
  { ready, reason, message, path, isRepaired = false }: Report,
): Promise<undefined> {
  const condition = { type: "Ready", status: ready, reason, ...(message !== undefined && { message }) };
  const moment = { now: clock.now(), observedGeneration: file.metadata.generation };
  await updateStatus(file, {
    ...(path !== undefined && { path }),
    repairs: (file.status?.repairs ?? 0) + Number(isRepaired),
    conditions: withCondition(file.status?.conditions, condition, moment),
  });
}
