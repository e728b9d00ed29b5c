/** Computes the table cells of a custom resource from its printer columns. */
import { findJsonPath, type JsonPath, valuesAt } from "../../api/json/json-path.ts";
import { stringifyAsGo } from "../../api/json/json-text.ts";
import { goText } from "../../api/patch/go-text.ts";
import { findInstant } from "../../api/values/time.ts";
import { humanDuration } from "../../resources/rules/human-duration.ts";
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import { AGE_PATH } from "./custom-facts.ts";
import type { VersionOutline } from "./custom-outline.ts";

export type Cell = string | number | boolean | null;

interface Column {
  readonly type: string;
  /** Undefined for an invalid path; the column stays empty. */
  readonly path: JsonPath | undefined;
}

export function customCells({
  columns = [],
}: VersionOutline): (object: ApiObject, now: number) => readonly Cell[] {
  const given = columns.length === 0 ? [{ type: "date", jsonPath: AGE_PATH }] : columns;
  const readers: readonly Column[] = given.map(({ type, jsonPath }) => ({
    type,
    path: findJsonPath(jsonPath),
  }));
  return (object, now) => [
    object.metadata.name ?? "",
    ...readers.map(({ type, path }) => {
      const [value] = path === undefined ? [] : valuesAt(path, object);
      return value === undefined ? null : cellOf(type, value, now);
    }),
  ];
}

/** `null` for a value that is not of the column's type. */
function cellOf(type: string, value: unknown, now: number): Cell {
  switch (type) {
    case "string":
      return textOf(value);
    case "integer":
      return typeof value === "number" || typeof value === "bigint" ? Math.trunc(Number(value)) : null;
    case "number":
      return typeof value === "number" || typeof value === "bigint" ? Number(value) : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    default:
      return typeof value === "string" ? ageOf(value, now) : null;
  }
}

/** Strings and numbers as they are; lists and objects as JSON. */
function textOf(value: unknown): string {
  if (value === null) return "<no value>";
  return typeof value === "object" ? stringifyAsGo(value) : goText(value);
}

function ageOf(text: string, now: number): string {
  if (text === "") return "<unknown>";
  const instant = findInstant(text);
  return instant === undefined ? "<invalid>" : humanDuration(now - Number(instant / 1000n));
}
