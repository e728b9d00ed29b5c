/** Options of API Priority and Fairness, under kube-apiserver's names. */
import type { ClusterOptions } from "../cluster/options.ts";
import { findText, UsageError, type Arguments, type OptionSpec } from "./command.ts";

const DEFAULT_READS = "400";
const DEFAULT_WRITES = "200";

export const fairnessOptions: readonly OptionSpec[] = [
  {
    flags: "--enable-priority-and-fairness <boolean>",
    help: "concurrency limits by FlowSchemas and priority levels",
    choices: ["true", "false"],
    fallback: "true",
  },
  {
    flags: "--max-requests-inflight <count>",
    help: "maximum of concurrent reads",
    fallback: DEFAULT_READS,
  },
  {
    flags: "--max-mutating-requests-inflight <count>",
    help: "maximum of concurrent writes",
    fallback: DEFAULT_WRITES,
  },
];

export function parseFairness(args: Arguments): NonNullable<ClusterOptions["fairness"]> {
  const isOn = findText(args, "enablePriorityAndFairness") !== "false";
  const maxReadsInFlight = count(args, "maxRequestsInflight", DEFAULT_READS);
  const maxWritesInFlight = count(args, "maxMutatingRequestsInflight", DEFAULT_WRITES);
  if (isOn && maxReadsInFlight + maxWritesInFlight === 0) {
    throw new UsageError(
      "--max-requests-inflight and --max-mutating-requests-inflight must together be more than 0",
    );
  }
  return { isOn, maxReadsInFlight, maxWritesInFlight };
}

function count(args: Arguments, name: string, fallback: string): number {
  const text = findText(args, name) ?? fallback;
  if (/^\d{1,6}$/.test(text)) return Number(text);
  const flag = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new UsageError(`--${flag} must be a whole number, found "${text}"`);
}
