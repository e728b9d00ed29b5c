/** Options that the verbs share, with kubectl's names. */
import { accessOptions } from "../cluster-access.ts";
import { findText, UsageError, type Arguments, type OptionSpec } from "../command.ts";
import { namespaceOption } from "../named-object.ts";

/** Options of every verb. */
export const verbOptions: readonly OptionSpec[] = [namespaceOption, ...accessOptions];

export const allNamespacesOption: OptionSpec = { flags: "-A, --all-namespaces", help: "all namespaces" };

export const selectorOption: OptionSpec = {
  flags: "-l, --selector <labels>",
  help: "label selector: app=web,tier!=cache",
};

export const fieldSelectorOption: OptionSpec = {
  flags: "--field-selector <fields>",
  help: "field selector: spec.nodeName=node-1",
};

export const filesOption: OptionSpec = {
  flags: "-f, --filename <path>",
  help: 'file or folder of manifests ("-" for stdin)',
  isRepeatable: true,
};

export const recursiveOption: OptionSpec = { flags: "-R, --recursive", help: "folders within folders, too" };

/** kubectl's longest wait. */
export const WEEK_MS = 7 * 24 * 3_600_000;

/** Time in Go's form: `30s`, `1m30s`. */
export function parseTimeout(args: Arguments, name: string, fallbackMs: number): number {
  const text = findText(args, name);
  if (text === undefined) return fallbackMs;
  if (text === "0") return 0;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text.replace(/^-/, ""))
    throw new UsageError(`--${name} must be a duration such as 30s or 1m30s, found "${text}"`);
  const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
  const ms = parts.reduce(
    (total, [, count = "0", unit = "s"]) => total + Number(count) * (units[unit] ?? 0),
    0,
  );
  return text.startsWith("-") ? -ms : ms;
}
