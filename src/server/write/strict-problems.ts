/** What a client hears of what the server does not understand in a body, in upstream's words and order. */
import { isJsonObject } from "../../api/json/json-object.ts";
import { pathText } from "../../api/schema/decode-place.ts";
import type { Body } from "./body.ts";

/** `custom` kinds are read without their schema first: what they have twice is found before what they have not. */
export function problemsIn(
  body: Body,
  unknown: readonly string[],
  kind: "built-in" | "custom",
): readonly string[] {
  const { duplicates, problems = [] } = body;
  if (kind === "custom" || duplicates.length === 0) {
    // Whatever was made of something else than JSON has its keys in order.
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

/** Nobody looks into a field that is not known. */
function isWithin(path: string, field: string): boolean {
  return path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
}

/** As somebody finds them who reads the body from its beginning. */
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
