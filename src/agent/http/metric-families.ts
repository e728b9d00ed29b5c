/** Writes metrics in the Prometheus text format. */

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
  /** Milliseconds since the epoch. */
  readonly at: number | undefined;
}

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly samples: readonly Sample[];
}

export function exposed(families: readonly Family[]): string {
  const lines = families.flatMap(({ name, help, type, samples }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map((sample) => `${name}${labelText(sample.labels)} ${String(sample.value)}${timeOf(sample)}`),
  ]);
  return `${lines.join("\n")}\n`;
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${quoted(value)}`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}

function timeOf({ at }: Sample): string {
  return at === undefined ? "" : ` ${String(Math.round(at))}`;
}
