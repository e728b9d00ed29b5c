import { isJsonObject } from "../../api/json/json-object.ts";
import type { Table } from "./table-text.ts";

export interface ServerTable extends Table {
  readonly metadata?: { readonly resourceVersion?: string };
}

/** Table in a response; empty for a response of another kind. */
export function tableIn(value: unknown): ServerTable {
  if (!isJsonObject(value) || value["kind"] !== "Table") return { columnDefinitions: [], rows: [] };
  const { rows, columnDefinitions } = value;
  return { ...value, rows: rows ?? [], columnDefinitions: columnDefinitions ?? [] } as ServerTable;
}
