/**
 * Makes foreign text safe for a terminal: names, messages and annotations of objects may contain sequences that move the
 * cursor, change the title or hide text. Pure.
 */

/** Control characters but line breaks and tabs, and marks that reverse the direction of text. */
const UNSAFE = /(?![\n\t])[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;
const FIRST_LETTER = 0x40;
const DELETE = 0x7f;

/** The text with such characters spelled out, as in `^[` for escape; line breaks stay. */
export function shownText(text: string): string {
  return text.replaceAll(UNSAFE, spelled);
}

/** Escape and carriage return as kubectl spells them. */
function spelled(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (char === "\r") return String.raw`\r`;
  if (code <= DELETE) return `^${String.fromCodePoint(code ^ FIRST_LETTER)}`;
  return String.raw`\u` + code.toString(16).padStart(4, "0");
}
