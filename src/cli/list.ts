import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Loop } from "../base/loop/loop.ts";
import { createRealLoop } from "../base/loop/real/real-loop.ts";
import { readStatus, type ClusterStatus } from "../cluster/data-dir/cluster-status.ts";
import { isDataDir } from "../cluster/data-dir/data-dir.ts";
import { CLUSTER_NAME } from "../cluster/kubeconfig/kubeconfig.ts";
import { ownedContexts } from "../cluster/kubeconfig/merged-kubeconfig.ts";
import { dataDirOf, homeOf, type ClusterPlace } from "./cluster-place.ts";
import { jsonOption, type Command, type Io } from "./command.ts";
import { shortPath } from "./event-text.ts";

export const listCommand: Command = {
  name: "list",
  usage: [],
  help: "list the clusters of this user, running or not",
  options: [jsonOption],
  async run(io, args) {
    const loop = createRealLoop({ name: "list" });
    const rows = await Promise.all(placesOf(io).map((place) => rowOf(place, loop)));
    io.stdout(args.options["json"] ? `${JSON.stringify(rows)}\n` : tableText(rows, io.homeDir));
  },
};

interface Row extends ClusterPlace {
  readonly state: ClusterStatus["state"];
  readonly server: string | undefined;
}

async function rowOf(place: ClusterPlace, loop: Loop): Promise<Row> {
  const status = await readStatus(place.dataDir, loop);
  return { ...place, state: status.state, server: "server" in status ? status.server : undefined };
}

/** Clusters below the home of clusters, and those elsewhere whose context is in the kubeconfig. */
export function placesOf(io: Io): readonly ClusterPlace[] {
  const home = homeOf(io);
  const names = [CLUSTER_NAME, ...namesIn(join(home, "clusters"))];
  const known = names.map((name) => ({ name, dataDir: dataDirOf(home, name) }));
  const merged = contextsOf(join(io.homeDir, ".kube", "config"));
  const others = merged.filter(({ dataDir }) => known.every((place) => place.dataDir !== dataDir));
  return [...known.filter(({ dataDir }) => isDataDir(dataDir)), ...others];
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}

/** Empty when the file is missing or invalid: `up` reports that. */
function contextsOf(file: string): readonly ClusterPlace[] {
  try {
    return ownedContexts(readFileSync(file, "utf8"));
  } catch {
    return [];
  }
}

function tableText(rows: readonly Row[], homeDir: string): string {
  if (rows.length === 0) return "There are no clusters: setpoint up starts one.\n";
  const cells = rows.map(({ name, state, server, dataDir }) => [
    name,
    state,
    server ?? "-",
    shortPath(dataDir, homeDir),
  ]);
  const lines = [["NAME", "STATE", "SERVER", "DATA DIR"], ...cells];
  const widths = [0, 1, 2, 3].map((at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  const padded = lines.map((line) => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("   "));
  return `${padded.map((line) => line.trimEnd()).join("\n")}\n`;
}
