/** The cluster that a command is about: its name and its data dir. */
import { resolve } from "node:path";
import { CLUSTER_NAME } from "../cluster/kubeconfig/kubeconfig.ts";
import { findText, UsageError, type Arguments, type Io, type OptionSpec } from "./command.ts";

export const nameOption: OptionSpec = {
  flags: "--name <name>",
  help: "name of the cluster and of its kubeconfig context",
  fallback: CLUSTER_NAME,
};

export const dataDirOption: OptionSpec = {
  flags: "--data-dir <dir>",
  help: "folder of the state (default: $SETPOINT_HOME or ~/.setpoint)",
};

/** Options of commands about one cluster of this machine. */
export const placeOptions: readonly OptionSpec[] = [dataDirOption, nameOption];

export interface ClusterPlace {
  readonly name: string;
  /** Absolute path. */
  readonly dataDir: string;
}

const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Folder of the default cluster, which has the named ones in its folder `clusters`. */
export function homeOf(io: Pick<Io, "env" | "homeDir" | "workingDir">): string {
  const given = io.env["SETPOINT_HOME"];
  // An empty $SETPOINT_HOME counts as unset, like ${X:-…} in the shell.
  return given ? resolve(io.workingDir, given) : resolve(io.homeDir, ".setpoint");
}

export function dataDirOf(home: string, name: string): string {
  return name === CLUSTER_NAME ? home : resolve(home, "clusters", name);
}

export function parsePlace(io: Io, args: Arguments): ClusterPlace {
  const name = findText(args, "name") ?? CLUSTER_NAME;
  if (!NAME.test(name)) {
    throw new UsageError(`--name must be at most 63 lower-case letters, digits and dashes, found "${name}"`);
  }
  const given = findText(args, "dataDir");
  const dataDir = given === undefined ? dataDirOf(homeOf(io), name) : resolve(io.workingDir, given);
  return { name, dataDir };
}
