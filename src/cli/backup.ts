import { resolve } from "node:path";
import { createRealLoop } from "../base/loop/real/real-loop.ts";
import { backUp } from "../cluster/data-dir/cluster-backup.ts";
import type { BackupOptions } from "../cluster/options.ts";
import { parsePlace, placeOptions } from "./cluster-place.ts";
import { jsonOption, type Arguments, type Command, type Io } from "./command.ts";
import { etcdOptions, parseStore } from "./store-options.ts";

export const backupCommand: Command = {
  name: "backup",
  usage: ["file"],
  help: "write a snapshot of a running or stopped cluster to FILE",
  options: [
    ...placeOptions,
    {
      flags: "--store <type>",
      help: "type of the store that keeps the state",
      choices: ["file", "etcd"],
      fallback: "file",
    },
    ...etcdOptions,
    jsonOption,
  ],
  async run(io, args) {
    const result = await backUp(parseBackupOptions(io, args), {
      loop: createRealLoop({ name: "backup" }),
      log: io.log,
    });
    const text = args.options["json"]
      ? JSON.stringify(result)
      : `wrote revision ${String(result.revision)} to ${result.file}`;
    io.stdout(`${text}\n`);
  },
};

function parseBackupOptions(io: Io, args: Arguments): BackupOptions {
  return {
    dataDir: parsePlace(io, args).dataDir,
    store: parseStore(io, args, ["file"]),
    file: resolve(io.workingDir, args.operands["file"] ?? ""),
  };
}
