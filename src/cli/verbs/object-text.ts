/** Objects as kubectl prints them with `-o yaml` and `-o json`: sorted keys, without managedFields. */
import { isJsonObject, type JsonObject } from "../../api/json/json-object.ts";
import { stringifyYaml } from "../../api/yaml/yaml-text.ts";

export type ObjectFormat = "yaml" | "json";

export function objectText(object: unknown, format: ObjectFormat): string {
  return format === "yaml" ? stringifyYaml(object) : `${goJson(sorted(object))}\n`;
}

/** Objects one after the other, as a watch shows them. */
export class ObjectStream {
  readonly #format: ObjectFormat;
  #hasPrinted = false;

  constructor(format: ObjectFormat) {
    this.#format = format;
  }

  next(object: JsonObject): string {
    const separator = this.#hasPrinted && this.#format === "yaml" ? "---\n" : "";
    this.#hasPrinted = true;
    return separator + objectText(object, this.#format);
  }
}

/** Several objects become one List. */
export function listOf(objects: readonly JsonObject[]): JsonObject {
  return { apiVersion: "v1", items: objects, kind: "List", metadata: { resourceVersion: "" } };
}

export function withoutManagedFields(object: JsonObject): JsonObject {
  const { metadata } = object;
  if (!isJsonObject(metadata)) return object;
  const { managedFields: _, ...shown } = metadata;
  return { ...object, metadata: shown };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, sorted(member)] as const);
  return Object.fromEntries(
    entries.toSorted(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0)),
  );
}

/** Go escapes characters that are special in HTML. */
function goJson(value: unknown): string {
  return JSON.stringify(value, undefined, 4).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
