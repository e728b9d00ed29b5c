/** Verbs that only kubectl has. Setpoint has kubectl's most common verbs, and no second kubectl. */
import type { Io } from "../command.ts";
import { hasKubectl, KUBECTL_PAGE } from "../find-kubectl.ts";
import { programCall } from "../program-call.ts";

const KUBECTL_VERBS: ReadonlySet<string> = new Set([
  ...[
    "annotate",
    "api-resources",
    "api-versions",
    "attach",
    "auth",
    "autoscale",
    "certificate",
    "cluster-info",
  ],
  ...[
    "config",
    "cordon",
    "cp",
    "create",
    "debug",
    "describe",
    "drain",
    "edit",
    "explain",
    "expose",
    "kustomize",
  ],
  ...["label", "patch", "plugin", "proxy", "replace", "rollout", "run", "set", "taint", "top", "uncordon"],
]);

/** Our commands that come closest, for a user without kubectl. */
const INSTEAD: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["annotate", "autoscale", "create", "edit", "expose", "label", "patch", "replace", "run", "set"].map(
      (verb) => [verb, "apply -f FILE"],
    ),
  ),
  describe: "why TYPE/NAME",
  rollout: "wait deployment/NAME --for=condition=Available",
  attach: "logs POD -f",
};

/** The kubectl line to type instead; undefined for words that kubectl does not know either. */
export function findKubectlLine(argv: readonly string[], io: KubectlUser): string | undefined {
  const [verb = ""] = argv;
  if (!KUBECTL_VERBS.has(verb)) return undefined;
  if (hasKubectl(io.env)) return `"${verb}" is a verb of kubectl alone; type: ${asKubectl(argv)}`;
  const instead = INSTEAD[verb];
  const without = instead === undefined ? "" : `; without it: ${programCall(io)} ${instead}`;
  return `"${verb}" is a verb of kubectl alone, which is not on PATH (${KUBECTL_PAGE})${without}`;
}

type KubectlUser = Pick<Io, "env" | "programFile" | "workingDir">;

export function asKubectl(argv: readonly string[]): string {
  return ["kubectl", ...argv.map(shellWord)].join(" ");
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
