/** Reads the Prometheus text format as far as the tables of loops need it. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

export function parseMetrics(text: string): readonly Sample[] {
  const samples: Sample[] = [];
  for (const line of text.split("\n")) {
    const [, name, labels = "", value] = LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    const pairs = [...labels.matchAll(LABEL)].map(([, key = "", text = ""]) => [
      key,
      text.replaceAll(/\\(.)/g, "$1"),
    ]);
    samples.push({ name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) });
  }
  return samples;
}
