import { resolve } from "node:path";
import { createRealLoop } from "../base/real-loop.ts";
import { runCluster, type ClusterEvent } from "../cluster/cluster.ts";
import type { ClusterOptions } from "../cluster/options.ts";
import { findText, jsonOption, type Arguments, type Command, type Io } from "./command.ts";
import { parseListen } from "./listen.ts";
import { dataDirOption, etcdOptions, parseDataDir, parseStore } from "./store-options.ts";

const DEFAULT_LISTEN = "127.0.0.1:6443";

export const upCommand: Command = {
  name: "up",
  usage: [],
  help: "run a cluster here; Ctrl-C ends it",
  options: [
    dataDirOption,
    {
      flags: "--store <type>",
      help: "where state is kept",
      choices: ["file", "memory", "etcd"],
      fallback: "file",
    },
    ...etcdOptions,
    {
      flags: "--listen <host:port>",
      help: "address of the API; port 0 picks a free one",
      fallback: DEFAULT_LISTEN,
    },
    { flags: "--restore <file>", help: "start from a file written by backup" },
    { ...jsonOption, help: "print one JSON line per lifecycle event instead of text" },
  ],
  async run(io, args) {
    const print = args.options["json"] ? JSON.stringify : textOf;
    const { log, signal } = io;
    await runCluster(parseClusterOptions(io, args), {
      loop: createRealLoop({ name: "cluster", log }),
      log,
      signal,
      report: (event) => io.stdout(`${print(event)}\n`),
    });
  },
};

export function parseClusterOptions(io: Io, args: Arguments): ClusterOptions {
  const restore = findText(args, "restore");
  return {
    dataDir: parseDataDir(io, args),
    store: parseStore(io, args, ["file", "memory"]),
    listen: parseListen(findText(args, "listen") ?? DEFAULT_LISTEN),
    restoreFile: restore === undefined ? undefined : resolve(io.workingDir, restore),
  };
}

function textOf(event: ClusterEvent): string {
  switch (event.event) {
    case "ready":
      return `Setpoint is ready at revision ${String(event.revision)}, ${placeOf(event)}. Ctrl-C ends it.`;
    case "stopped":
      return "Setpoint has stopped.";
  }
}

function placeOf({ store, dataDir }: Extract<ClusterEvent, { event: "ready" }>): string {
  switch (store) {
    case "file":
      return `state is in ${dataDir}`;
    case "memory":
      return "state is in memory and ends with this process";
    case "etcd":
      return "state is in etcd";
  }
}
