import { basename, isAbsolute, relative } from "node:path";
import type { Io } from "./command.ts";

/** Words with which the user called this program: `setpoint`, `npx setpoint` or `node dist/cli.js`. */
export function programCall({ programFile, workingDir }: Pick<Io, "programFile" | "workingDir">): string {
  if (programFile.includes("/_npx/")) return "npx setpoint";
  if (basename(programFile) === "setpoint") return "setpoint";
  const path = relative(workingDir, programFile);
  return `node ${path.startsWith("..") || isAbsolute(path) ? programFile : path}`;
}
