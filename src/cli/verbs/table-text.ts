/** Tables as kubectl prints them: columns of the widest cell plus three spaces. */

export interface TableColumn {
  readonly name: string;
  /** Columns with a priority above 0 are shown by `-o wide` only. */
  readonly priority?: number;
}

export interface Table {
  readonly columnDefinitions: readonly TableColumn[];
  readonly rows: readonly TableRow[];
}

export interface TableRow {
  readonly cells: readonly unknown[];
  /** The object, or its metadata. */
  readonly object?: {
    readonly metadata?: {
      readonly name?: string;
      readonly namespace?: string;
      readonly resourceVersion?: string;
      readonly labels?: Readonly<Record<string, string>>;
    };
  };
}

export interface TableView {
  readonly isWide: boolean;
  readonly withNamespace: boolean;
  readonly withHeaders: boolean;
  readonly withLabels: boolean;
  /** Printed before each name: `deployment.apps/`. */
  readonly namePrefix: string;
}

const PADDING = 3;
const MIN_WIDTH = 6;

/** Prints tables that follow each other in the same columns, for example the rows of a watch. */
export class TablePrinter {
  readonly #view: TableView;
  #widths: readonly number[] = [];
  /** The tables of a watch leave the columns out after the first. */
  #columns: readonly TableColumn[] = [];
  #hasHeader: boolean;

  constructor(view: TableView) {
    this.#view = view;
    this.#hasHeader = !view.withHeaders;
  }

  print({ columnDefinitions, rows: tableRows }: Table): string {
    if (columnDefinitions.length > 0) this.#columns = columnDefinitions;
    const lines = linesOf({ columnDefinitions: this.#columns, rows: tableRows }, this.#view);
    const rows = this.#hasHeader ? lines.slice(1) : lines;
    this.#hasHeader = true;
    this.#widths = widthsOf(rows, this.#widths);
    return rows.map((cells) => `${lineText(cells, this.#widths)}\n`).join("");
  }
}

/** Cells of the header and of each row. */
function linesOf({ columnDefinitions, rows }: Table, view: TableView): readonly (readonly string[])[] {
  const shown = columnDefinitions.flatMap(({ priority = 0 }, at) =>
    priority > 0 && !view.isWide ? [] : [at],
  );
  const nameAt = columnDefinitions.findIndex(({ name }) => name.toLowerCase() === "name");
  const header = [
    ...(view.withNamespace ? ["NAMESPACE"] : []),
    ...shown.map((at) => columnDefinitions[at]?.name.toUpperCase() ?? ""),
    ...(view.withLabels ? ["LABELS"] : []),
  ];
  const lines = rows.map(({ cells, object }) => [
    ...(view.withNamespace ? [object?.metadata?.namespace ?? ""] : []),
    ...shown.map((at) => (at === nameAt ? view.namePrefix : "") + cellText(cells[at])),
    ...(view.withLabels ? [labelsText(object?.metadata?.labels)] : []),
  ]);
  return [header, ...lines];
}

/** A cell ends at its first line break. */
function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return "";
  const text = typeof cell === "string" ? cell : JSON.stringify(cell);
  const end = text.search(/[\f\n\r]/);
  return end < 0 ? text : `${text.slice(0, end)}...`;
}

function labelsText(labels: Readonly<Record<string, string>> = {}): string {
  const entries = Object.entries(labels).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return entries.length === 0 ? "<none>" : entries.map(([key, value]) => `${key}=${value}`).join(",");
}

function widthsOf(lines: readonly (readonly string[])[], before: readonly number[]): readonly number[] {
  const columns = Math.max(before.length, ...lines.map(({ length }) => length));
  return Array.from({ length: columns }, (_, at) =>
    Math.max(before[at] ?? MIN_WIDTH, ...lines.map((cells) => lengthOf(cells[at] ?? "") + PADDING)),
  );
}

/** The last cell is not padded. */
function lineText(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, at) =>
      at === cells.length - 1 ? cell : cell + " ".repeat(Math.max(0, (widths[at] ?? 0) - lengthOf(cell))),
    )
    .join("");
}

function lengthOf(text: string): number {
  return Array.from(text).length;
}
