/** Options of nodes that run real programs. */
import { imageProblem } from "../cluster/loops/machine-node.ts";
import type { ClusterOptions } from "../cluster/options.ts";
import { findText, findTexts, UsageError, type Arguments, type OptionSpec } from "./command.ts";

export const runtimeOptions: readonly OptionSpec[] = [
  {
    flags: "--runtime <type>",
    help: "runtime of pods without a runtimeClassName",
    choices: ["simulated", "process"],
    fallback: "simulated",
  },
  { flags: "--process-node", help: "this machine as a node for process pods" },
  {
    flags: "--process-image <image=command>",
    help: "program of an image for process pods; repeatable",
    isRepeatable: true,
  },
  { flags: "--pod-egress", help: "process pods reach other networks (as root, with nft)" },
  { flags: "--keep-pods", help: "process pods run on when the cluster ends" },
];

/** Whether pods without a RuntimeClass are programs of this machine. */
export function runsPrograms(args: Arguments): boolean {
  return findText(args, "runtime") === "process";
}

/** Undefined if this machine is to be no node. */
export function parseMachine(args: Arguments): ClusterOptions["machine"] {
  const isDefault = runsPrograms(args);
  const images = findTexts(args, "processImage").map(checkImage);
  const keepsPods = args.options["keepPods"] === true;
  const egress = args.options["podEgress"] === true;
  if (isDefault || args.options["processNode"] === true) {
    if (process.platform === "win32") throw new UsageError("process pods need Linux or macOS");
    return { images, keepsPods, egress, isDefault };
  }
  if (images.length > 0) throw new UsageError("--process-image needs --process-node or --runtime process");
  if (egress) throw new UsageError("--pod-egress needs --process-node or --runtime process");
  if (keepsPods) throw new UsageError("--keep-pods needs --process-node or --runtime process");
  return undefined;
}

function checkImage(text: string): string {
  const problem = imageProblem(text);
  if (problem !== undefined) throw new UsageError(`--process-image: ${problem}`);
  return text;
}
