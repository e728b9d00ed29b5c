/** Lists unknown and duplicate fields of a body for the client, in upstream's words and order. */
import { isJsonObject } from "../../api/json/json-object.ts";
import { pathText } from "../../api/schema/decode-place.ts";
import type { Body } from "./body.ts";

/** Upstream parses `custom` kinds without their schema first, so it reports duplicates before unknown fields. */
export function problemsIn(
  body: Body,
  unknown: readonly string[],
  kind: "built-in" | "custom",
): readonly string[] {
  const { duplicates, problems = [] } = body;
  if (kind === "custom" || duplicates.length === 0) {
    // A body that upstream converts to JSON first has sorted keys.
    const isSorted = kind === "built-in" && body.isRewritten === true;
    const named = isSorted ? unknown.toSorted() : unknown;
    return [...problems, ...duplicates.map(duplicateText), ...named.map(unknownText)];
  }
  const seen = duplicates.filter((path) => !unknown.some((field) => isWithin(path, field)));
  const texts = new Map([
    ...seen.map((path) => [path, duplicateText(path)] as const),
    ...unknown.map((path) => [path, unknownText(path)] as const),
  ]);
  return [...problems, ...inDocumentOrder(body.value, texts)];
}

function duplicateText(path: string): string {
  return `duplicate field ${JSON.stringify(path)}`;
}

function unknownText(path: string): string {
  return `unknown field ${JSON.stringify(path)}`;
}

/** The parser does not look into an unknown field. */
function isWithin(path: string, field: string): boolean {
  return path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
}

/** The texts in the order of their fields in the body. */
function inDocumentOrder(body: unknown, texts: ReadonlyMap<string, string>): readonly string[] {
  const found: string[] = [];
  const walk = (value: unknown, path: readonly (string | number)[]): void => {
    const entries: Iterable<[string | number, unknown]> = Array.isArray(value)
      ? value.entries()
      : isJsonObject(value)
        ? Object.entries(value)
        : [];
    for (const [key, inner] of entries) {
      const text = typeof key === "string" ? texts.get(pathText(path, key)) : undefined;
      if (text !== undefined) found.push(text);
      walk(inner, [...path, key]);
    }
  };
  walk(body, []);
  return found;
}
