import { createRealLoop } from "../base/loop/real/real-loop.ts";
import { readStatus, type ClusterStatus } from "../cluster/data-dir/cluster-status.ts";
import { componentLogsFolder } from "../cluster/logs/component-logs.ts";
import { parsePlace, placeOptions } from "./cluster-place.ts";
import { jsonOption, type Command } from "./command.ts";

export const statusCommand: Command = {
  name: "status",
  usage: [],
  help: "show the status of a data dir's cluster (exit 1: not ready)",
  options: [...placeOptions, jsonOption],
  async run(io, args) {
    const status = await readStatus(parsePlace(io, args).dataDir, createRealLoop({ name: "status" }));
    if (args.options["json"]) io.stdout(`${JSON.stringify(status)}\n`);
    if (status.state !== "ready") throw new Error(complaint(status));
    if (!args.options["json"]) io.stdout(readyText(status));
  },
};

type Ready = Extract<ClusterStatus, { state: "ready" }>;

function readyText(status: Ready): string {
  const { name, server, pid, store, dataDir, kubeconfig, revision, nodes, processPods } = status;
  return [
    `Setpoint is ready at ${server}.`,
    "",
    `  name        ${name}`,
    `  process     ${String(pid)}`,
    `  data dir    ${dataDir}`,
    `  store       ${store}, at revision ${String(revision)}`,
    `  nodes       ${nodes === 0 ? "none; pods stay Pending" : String(nodes)}`,
    `  kubeconfig  ${kubeconfig}`,
    `  logs        ${componentLogsFolder(dataDir)}`,
    ...(processPods === undefined
      ? []
      : [`  processes   on node ${processPods.node}: ${processPods.message}`]),
    "",
  ].join("\n");
}

function complaint(status: Exclude<ClusterStatus, Ready>): string {
  switch (status.state) {
    case "stopped":
      return `no cluster runs in ${status.dataDir}: start one with setpoint up --data-dir ${status.dataDir}`;
    case "starting":
      return `process ${String(status.pid)} is starting a cluster in ${status.dataDir}: ask again in a moment`;
    case "unready":
      return `process ${String(status.pid)} runs but ${status.server} is not ready (${status.reason}): see setpoint logs`;
  }
}
