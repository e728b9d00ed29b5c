/** Verbs that only kubectl has. Setpoint has kubectl's most common verbs, and no second kubectl. */

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

/** The kubectl line to type instead; undefined for words that kubectl does not know either. */
export function findKubectlLine(argv: readonly string[]): string | undefined {
  const [verb = ""] = argv;
  if (!KUBECTL_VERBS.has(verb)) return undefined;
  return `"${verb}" is a verb of kubectl alone; type: ${asKubectl(argv)}`;
}

export function asKubectl(argv: readonly string[]): string {
  return ["kubectl", ...argv.map(shellWord)].join(" ");
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
