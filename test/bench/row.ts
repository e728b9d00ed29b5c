/** One line of the table that `npm run bench` prints. */
export interface Row {
  readonly what: string;
  readonly value: string;
  readonly yardstick: string;
  /** Figure that is compared with the target; ratios come from one run on one machine. */
  readonly figure: string;
  readonly aim: string;
  readonly verdict: "met" | "missed" | "client-bound" | "skipped";
}

export interface Bench {
  readonly name: string;
  run(context: BenchContext): Promise<readonly Row[]>;
}

export interface BenchContext {
  /** A new empty folder on the disk under test. */
  folder(): string;
  /** Runs one of this program's children in its own process and returns its JSON output. */
  child(name: string, argument: unknown): Promise<unknown>;
  progress(text: string): void;
}

export function perSecond(count: number, ms: number): number {
  return (count / ms) * 1000;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

export function verdict(isMet: boolean): "met" | "missed" {
  return isMet ? "met" : "missed";
}
