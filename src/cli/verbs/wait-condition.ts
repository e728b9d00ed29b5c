/** Conditions of `setpoint wait --for`. Pure. */
import type { ApiObject } from "../../api/api-object.ts";
import { isJsonObject, type JsonObject } from "../../api/json/json-object.ts";
import { findJsonPath, valuesAt } from "../../api/json/json-path.ts";
import { UsageError } from "../command.ts";

export type WaitCondition =
  | { readonly type: "create" }
  | { readonly type: "delete" }
  /** Holds for an object that exists. */
  | { readonly type: "state"; readonly holds: (object: ApiObject) => boolean };

export function parseWaitCondition(text: string): WaitCondition {
  if (text === "create" || text === "delete") return { type: text };
  const [, kind = "", rest = ""] = /^(condition|jsonpath)=(.*)$/s.exec(text) ?? [];
  if (kind === "condition") return conditionOf(rest);
  if (kind === "jsonpath") return pathOf(rest);
  throw new UsageError(
    `--for must be create, delete, condition=NAME[=VALUE] or jsonpath='{PATH}'[=VALUE], found "${text}"`,
  );
}

function conditionOf(text: string): WaitCondition {
  const [name = "", value = "true"] = text.split("=");
  return {
    type: "state",
    holds: ({ metadata, ...object }) => {
      const { status } = object as { status?: unknown };
      const conditions =
        isJsonObject(status) && Array.isArray(status["conditions"]) ? status["conditions"] : [];
      const found = conditions.find(
        (condition): condition is JsonObject => isJsonObject(condition) && equalText(condition["type"], name),
      );
      return (
        found !== undefined &&
        isReported(found, status, metadata.generation ?? 0) &&
        equalText(found["status"], value)
      );
    },
  };
}

/** A report about an older version of the wish does not count. */
function isReported(condition: JsonObject, status: unknown, generation: number): boolean {
  const observed =
    condition["observedGeneration"] ?? (isJsonObject(status) ? status["observedGeneration"] : undefined);
  return typeof observed !== "number" || observed >= generation;
}

function pathOf(text: string): WaitCondition {
  const end = text.startsWith("{") ? text.indexOf("}=") + 1 : text.indexOf("=");
  const [source, value] = end > 0 ? [text.slice(0, end), text.slice(end + 1)] : [text, undefined];
  const path = findJsonPath(source);
  if (path === undefined) throw new UsageError(`"${source}" is not a JSONPath such as {.status.phase}`);
  return {
    type: "state",
    holds: (object) => {
      const values = valuesAt(path, object);
      if (value === undefined) return values.length > 0;
      return values.length === 1 && plainText(values[0]) === value;
    },
  };
}

function plainText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function equalText(value: unknown, expected: string): boolean {
  return typeof value === "string" && value.toLowerCase() === expected.toLowerCase();
}
