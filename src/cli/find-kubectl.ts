import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Where people get kubectl. */
export const KUBECTL_PAGE = "https://kubernetes.io/docs/tasks/tools/";

export function hasKubectl(env: Readonly<Record<string, string | undefined>>): boolean {
  return (env["PATH"] ?? "").split(delimiter).some((folder) => isProgram(join(folder, "kubectl")));
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
