/** A survey measures the same requests at several sizes. Its figures have no aim: the table shows what grows. */
import type { BenchContext } from "./row.ts";

/** One measurement at one size. Absent figures do not apply. */
export interface Figure {
  readonly what: string;
  /** The size, as the table's column shows it. */
  readonly at: string;
  /** CPU of the server for one request or delivery. */
  readonly cpuUs?: number;
  readonly perSecond?: number;
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  readonly maxMs?: number;
  /** A figure in a unit of its own. */
  readonly value?: string;
}

export interface Survey {
  readonly name: string;
  run(context: SurveyContext): Promise<void>;
}

export interface SurveyContext extends BenchContext {
  readonly options: SurveyOptions;
  /** Figures are shown even when a later measurement fails. */
  add(figures: readonly Figure[]): void;
}

export interface SurveyOptions {
  /** Numbers of stored pods, ascending; undefined for the default. */
  readonly sizes: readonly number[] | undefined;
  readonly isQuick: boolean;
  readonly nodes: number | undefined;
}

interface Column {
  readonly title: string;
  readonly cell: (figure: Figure) => string | undefined;
}

const TABLES: readonly Column[] = [
  { title: "CPU of the server, µs each", cell: ({ cpuUs }) => textOf(cpuUs) },
  { title: "p50 / p99 / max, ms", cell: latencyOf },
  { title: "per second", cell: ({ perSecond }) => textOf(perSecond) },
  { title: "other figures", cell: ({ value }) => value },
];

/** One table for each kind of figure: a line for each measurement, a column for each size. */
export function surveyText(figures: readonly Figure[]): string {
  const sizes = [...new Set(figures.map(({ at }) => at))];
  return TABLES.flatMap(({ title, cell }) => {
    const shown = figures.filter((figure) => cell(figure) !== undefined);
    if (shown.length === 0) return [];
    const lines = [...new Set(shown.map(({ what }) => what))].map((what) => [
      what,
      ...sizes.map((at) => {
        const found = shown.find((figure) => figure.what === what && figure.at === at);
        return found === undefined ? "–" : (cell(found) ?? "–");
      }),
    ]);
    const head = [title, ...sizes];
    return [[head, head.map(() => "---"), ...lines].map((line) => `| ${line.join(" | ")} |`).join("\n")];
  }).join("\n\n");
}

/** One line, shown as soon as it is measured. */
export function figureText(figure: Figure): string {
  const cells = TABLES.flatMap(({ title, cell }) => {
    const text = cell(figure);
    return text === undefined ? [] : [`${text} (${title})`];
  });
  return `${figure.what}, ${figure.at}: ${cells.join(", ")}`;
}

function latencyOf({ p50Ms, p99Ms, maxMs }: Figure): string | undefined {
  if (p50Ms === undefined) return undefined;
  return [p50Ms, p99Ms, maxMs].map((ms) => textOf(ms) ?? "–").join(" / ");
}

/** Three digits are enough: repeated runs differ by more. */
function textOf(value: number | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (value >= 100) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(value >= 10 ? 1 : 2);
}
