import { join } from "node:path";
import { createRealLoop } from "../base/loop/real/real-loop.ts";
import { stopCluster } from "../cluster/data-dir/cluster-status.ts";
import { deleteDataDir, isDataDir, requireDeletable } from "../cluster/data-dir/data-dir.ts";
import { parsePlace, placeOptions } from "./cluster-place.ts";
import { jsonOption, UsageError, type Arguments, type Command, type Io } from "./command.ts";
import { shortPath } from "./event-text.ts";

/** A cluster that does not run makes this command a no-op. */
export const downCommand: Command = {
  name: "down",
  usage: [],
  help: "stop the cluster of a data dir; its state stays",
  options: [
    ...placeOptions,
    { flags: "--delete", help: "deletion of the cluster's data, after a question" },
    { flags: "--yes", help: "no question" },
    jsonOption,
  ],
  async run(io, args) {
    const { dataDir } = parsePlace(io, args);
    const isDeleted = args.options["delete"] === true && isDataDir(dataDir);
    if (isDeleted) await requireDeletable(dataDir, io.homeDir);
    if (isDeleted && !(await isConfirmed(io, args, dataDir)))
      throw new Error("nothing was stopped or deleted");
    const isJson = args.options["json"] === true;
    const loop = createRealLoop({ name: "down" });
    const stopped = await stopCluster(dataDir, {
      loop,
      userKubeconfig: join(io.homeDir, ".kube", "config"),
      onWait: (process, waitedMs) => {
        if (!isJson) io.stdout(waitText(process, waitedMs));
      },
    });
    const kept = isDeleted ? await loop.outside("file", deleteDataDir(dataDir)) : undefined;
    if (isJson)
      io.stdout(`${JSON.stringify({ dataDir, stopped: stopped ?? null, deleted: kept !== undefined })}\n`);
    else io.stdout(endText(dataDir, stopped) + deletedText(dataDir, kept));
  },
};

/** Deletion asks a user, or needs `--yes`. */
async function isConfirmed(io: Io, args: Arguments, dataDir: string): Promise<boolean> {
  if (args.options["yes"] === true) return true;
  if (io.screen === undefined) throw new UsageError("--delete without a terminal needs --yes");
  const question = `Delete all data of the cluster in ${shortPath(dataDir, io.homeDir)}? [y/N] `;
  return /^y(?:es)?$/i.test((await io.screen.ask(question, io.signal)).trim());
}

function waitText(pid: number, waitedMs: number): string {
  if (waitedMs === 0) return `Ending process ${String(pid)} …\n`;
  return `Waiting for process ${String(pid)} for ${String(waitedMs / 1000)} s …\n`;
}

function endText(dataDir: string, pid: number | undefined): string {
  return pid === undefined ? `No cluster runs in ${dataDir}.\n` : "Setpoint has stopped.\n";
}

function deletedText(dataDir: string, kept: readonly string[] | undefined): string {
  if (kept === undefined) return "";
  const rest = kept.length === 0 ? "" : ` Files of others stay: ${kept.slice(0, 3).join(", ")}.`;
  return `The data in ${dataDir} is deleted.${rest}\n`;
}
