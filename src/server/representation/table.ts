/** Shows objects as rows of cells, as `kubectl get` prints them. */
import type { JsonObject } from "../../api/json/json-object.ts";
import { stringifyJson } from "../../api/json/json-text.ts";
import type { ColumnFacts } from "../../api/schema/resource-facts.ts";
import { stringifyYaml } from "../../api/yaml/yaml-text.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import type { Resource, StoredResource } from "../objects/registry.ts";
import type { StoredObject } from "../objects/stored-object.ts";
import type { ListAnswer } from "../request/answer.ts";
import { COMMA, listMetadata } from "./list-body.ts";
import type { ObjectView } from "./object-view.ts";

/** Columns of kinds without their own, and of kinds whose rules make no cells. */
const DEFAULT_COLUMNS: readonly ColumnFacts[] = [
  { name: "Name", type: "string", format: "name", priority: 0 },
  { name: "Created At", type: "date", format: "", priority: 0 },
];

type Cells = readonly (string | number | boolean | null)[];

/** The columns and cells of a kind. */
export interface Tabled {
  readonly facts: Pick<Resource["facts"], "columns">;
  readonly rules: Pick<Resource["rules"], "columns" | "cells" | "rowConditions" | "compareRows">;
  readonly custom?: StoredResource["custom"];
}

export interface TableOptions {
  readonly resource: Tabled;
  /** Version of `meta.k8s.io`. */
  readonly metaVersion: string;
  /** Undefined when rows contain no objects. */
  readonly view: ObjectView | undefined;
  /** The object in the requested version, for the cells. */
  readonly servedOf: (stored: StoredObject) => ApiObject;
  /** Time at which ages are measured. */
  readonly now: number;
}

export class Table {
  readonly #options: TableOptions;
  readonly #cells: (object: ApiObject) => Cells;
  readonly #columns: readonly ColumnFacts[];

  constructor(options: TableOptions) {
    const { facts, rules } = options.resource;
    this.#options = options;
    const own = rules.cells === undefined ? undefined : (rules.columns ?? facts.columns);
    this.#columns = own ?? DEFAULT_COLUMNS;
    this.#cells = (object) =>
      own === undefined ? defaultCells(object) : (rules.cells?.(object, options.now) ?? []);
  }

  *jsonList(list: ListAnswer): Generator<Uint8Array> {
    yield this.#head(listMetadata(list), true);
    let isFirst = true;
    for (const item of this.#ordered(list.items)) {
      if (!isFirst) yield COMMA;
      isFirst = false;
      yield* this.#row(this.#options.servedOf(item), item);
    }
    yield CLOSE;
  }

  *yamlList(list: ListAnswer): Generator<Uint8Array> {
    const { apiVersion, columnDefinitions } = this.#envelope({}, true);
    yield Buffer.from(stringifyYaml({ apiVersion, columnDefinitions, kind: "Table" }));
    const isEmpty = list.items.length === 0;
    yield Buffer.from(`${stringifyYaml({ metadata: listMetadata(list) })}rows:${isEmpty ? " []" : ""}\n`);
    for (const item of this.#ordered(list.items)) {
      const row = {
        ...this.#words(this.#options.servedOf(item)),
        object: this.#options.view?.value(item) ?? null,
      };
      yield Buffer.from(stringifyYaml([row]));
    }
  }

  #ordered(items: readonly StoredObject[]): readonly StoredObject[] {
    const { resource, servedOf } = this.#options;
    const { rules } = resource;
    if (rules.compareRows === undefined) return items;
    return items.toSorted((left, right) => rules.compareRows?.(servedOf(left), servedOf(right)) ?? 0);
  }

  /** A table of one stored object. Only the first event of a watch has columns. */
  *json(stored: StoredObject, { hasColumns }: { readonly hasColumns: boolean }): Generator<Uint8Array> {
    yield this.#head({ resourceVersion: stored.resourceVersion }, hasColumns);
    yield* this.#row(this.#options.servedOf(stored), stored);
    yield CLOSE;
  }

  /** A table of one unstored object in the requested version, or of a list of them. */
  value(object: ApiObject, { hasColumns }: { readonly hasColumns: boolean }): JsonObject {
    const { resourceVersion } = object.metadata;
    const shown = "items" in object ? (object.items as readonly ApiObject[]) : [object];
    const rows = shown.map((one) => ({
      ...this.#words(one),
      object: this.#options.view?.shown(one) ?? null,
    }));
    return { ...this.#envelope(resourceVersion === undefined ? {} : { resourceVersion }, hasColumns), rows };
  }

  /** A bookmark has empty cells. For custom resources the columns find no value in it. */
  bookmark(object: ApiObject, { hasColumns }: { readonly hasColumns: boolean }): JsonObject {
    const { resourceVersion = "" } = object.metadata;
    const isCustom = this.#options.resource.custom !== undefined;
    const cells = isCustom ? this.#cells(object) : this.#columns.map(() => "");
    const row = { cells, object: this.#options.view?.shown(object) ?? null };
    return { ...this.#envelope({ resourceVersion }, hasColumns), rows: [row] };
  }

  /** A row without its object. */
  #words(object: ApiObject): JsonObject {
    const conditions = this.#options.resource.rules.rowConditions?.(object) ?? [];
    return { cells: this.#cells(object), ...(conditions.length > 0 && { conditions }) };
  }

  #envelope(metadata: JsonObject, hasColumns: boolean): JsonObject {
    return {
      kind: "Table",
      apiVersion: `meta.k8s.io/${this.#options.metaVersion}`,
      metadata,
      columnDefinitions: hasColumns
        ? this.#columns.map((column) => ({ ...column, description: column.description ?? "" }))
        : null,
    };
  }

  #head(metadata: JsonObject, hasColumns: boolean): Uint8Array {
    const envelope = JSON.stringify({ ...this.#envelope(metadata, hasColumns), rows: [] });
    return Buffer.from(envelope.slice(0, -"]}".length));
  }

  *#row(object: ApiObject, stored: StoredObject): Generator<Uint8Array> {
    const words = stringifyJson(this.#words(object));
    yield Buffer.from(`${words.slice(0, -"}".length)},"object":`);
    yield this.#options.view?.json(stored) ?? NULL;
    yield CLOSE_ROW;
  }
}

const NULL = Buffer.from("null");
const CLOSE_ROW = Buffer.from("}");
const CLOSE = Buffer.from("]}");

function defaultCells({ metadata }: ApiObject): Cells {
  return [metadata.name ?? "", metadata.creationTimestamp ?? ""];
}
