import { createRealLoop } from "../base/loop/real/real-loop.ts";
import { stopCluster } from "../cluster/data-dir/cluster-status.ts";
import { parsePlace, placeOptions } from "./cluster-place.ts";
import { jsonOption, type Command } from "./command.ts";

/** A cluster that does not run makes this command a no-op. */
export const downCommand: Command = {
  name: "down",
  usage: [],
  help: "stop the cluster of a data dir; its state stays",
  options: [...placeOptions, jsonOption],
  async run(io, args) {
    const { dataDir } = parsePlace(io, args);
    const isJson = args.options["json"] === true;
    const pid = await stopCluster(dataDir, {
      loop: createRealLoop({ name: "down" }),
      onWait: (process, waitedMs) => {
        if (!isJson) io.stdout(waitText(process, waitedMs));
      },
    });
    io.stdout(isJson ? `${JSON.stringify({ dataDir, stopped: pid ?? null })}\n` : endText(dataDir, pid));
  },
};

function waitText(pid: number, waitedMs: number): string {
  if (waitedMs === 0) return `Ending process ${String(pid)} …\n`;
  return `Waiting for process ${String(pid)} for ${String(waitedMs / 1000)} s …\n`;
}

function endText(dataDir: string, pid: number | undefined): string {
  return pid === undefined ? `No cluster runs in ${dataDir}.\n` : "Setpoint has stopped.\n";
}
