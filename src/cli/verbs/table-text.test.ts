import { describe, expect, test } from "vitest";
import { TablePrinter, type Table } from "./table-text.ts";

const VIEW = { isWide: false, withNamespace: false, withHeaders: true, withLabels: false, namePrefix: "" };
const columnDefinitions = [{ name: "Name" }, { name: "Ready" }, { name: "Node", priority: 1 }];

function table(...rows: readonly (readonly unknown[])[]): Table {
  return { columnDefinitions, rows: rows.map((cells) => ({ cells })) };
}

describe("a table", () => {
  test("has columns of the widest cell and three spaces, without a column for -o wide", () => {
    expect(new TablePrinter(VIEW).print(table(["a", "1/1", "n"], ["longer", "0/1", "n"]))).toBe(
      "NAME     READY\na        1/1\nlonger   0/1\n",
    );
  });

  test("shows all columns with -o wide", () => {
    expect(new TablePrinter({ ...VIEW, isWide: true }).print(table(["a", "1/1", "n"]))).toBe(
      "NAME   READY   NODE\na      1/1     n\n",
    );
  });

  test("prints its header once, and keeps its columns", () => {
    const printer = new TablePrinter(VIEW);
    printer.print(table(["long-name", "1/1", ""]));

    expect(printer.print(table(["b", "0/1", ""]))).toBe("b           0/1\n");
  });

  test("keeps the columns of the first table of a watch, which the later ones leave out", () => {
    const printer = new TablePrinter(VIEW);
    printer.print(table(["a", "1/1", ""]));

    expect(printer.print({ columnDefinitions: [], rows: [{ cells: ["b", "0/1", ""] }] })).toBe(
      "b      0/1\n",
    );
  });

  test("cuts a cell at its first line break", () => {
    expect(new TablePrinter({ ...VIEW, withHeaders: false }).print(table(["a\nb", 3, ""]))).toBe(
      "a...   3\n",
    );
  });

  test("prefixes names and shows namespaces and labels", () => {
    const rows = [
      { cells: ["a", "1/1", ""], object: { metadata: { namespace: "shop", labels: { b: "2", a: "1" } } } },
    ];
    const view = { ...VIEW, withNamespace: true, withLabels: true, namePrefix: "pod/" };

    expect(new TablePrinter(view).print({ columnDefinitions, rows })).toBe(
      "NAMESPACE   NAME    READY   LABELS\nshop        pod/a   1/1     a=1,b=2\n",
    );
  });
});
