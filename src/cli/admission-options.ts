/** Options of admission, under kube-apiserver's names. */
import { pluginChoiceProblem } from "../cluster/files/admission-files.ts";
import type { ClusterOptions } from "../cluster/options.ts";
import { findText, UsageError, type Arguments, type OptionSpec } from "./command.ts";

export const admissionOptions: readonly OptionSpec[] = [
  {
    flags: "--enable-admission-plugins <names>",
    help: "admission plugins to add to the default ones",
  },
  { flags: "--disable-admission-plugins <names>", help: "admission plugins to turn off" },
  {
    flags: "--admission-control-config-file <file>",
    help: "path of an AdmissionConfiguration (PodSecurity)",
  },
];

export function parseAdmission(
  args: Arguments,
  path: (name: string) => string | undefined,
): NonNullable<ClusterOptions["admission"]> {
  const choice = {
    enabled: names(args, "enableAdmissionPlugins"),
    disabled: names(args, "disableAdmissionPlugins"),
  };
  const problem = pluginChoiceProblem(choice);
  if (problem !== undefined) throw new UsageError(problem);
  return { ...choice, configFile: path("admissionControlConfigFile") };
}

function names(args: Arguments, option: string): readonly string[] {
  const words = (findText(args, option) ?? "").split(",").map((word) => word.trim());
  return words.filter((word) => word !== "");
}
