import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import type { Io } from "./command.ts";

/** Words with which the user called this program: `setpoint`, `npx setpoint` or `node dist/cli.js`. */
export function programCall({ programFile, workingDir }: Pick<Io, "programFile" | "workingDir">): string {
  if (programFile.includes("/_npx/")) return "npx setpoint";
  if (basename(programFile) === "setpoint") return "setpoint";
  return `node ${pathFrom(workingDir, programFile)}`;
}

/** Path of a manifest that the package brings, as the user types it; undefined where the package lacks its documents. */
export function findDemoManifest({
  programFile,
  workingDir,
}: Pick<Io, "programFile" | "workingDir">): string | undefined {
  if (!existsSync(programFile)) return undefined;
  const file = join(dirname(dirname(realpathSync(programFile))), "docs", "learn", "demo.yaml");
  return existsSync(file) ? pathFrom(workingDir, file) : undefined;
}

function pathFrom(folder: string, file: string): string {
  const path = relative(folder, file);
  return path.startsWith("..") || isAbsolute(path) ? file : path;
}
