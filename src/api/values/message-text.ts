/** Formats values inside messages that must equal upstream's. */

/** Characters that Go escapes: all but letters, marks, numbers, punctuation, symbols and the space. */
const ESCAPED = /["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;

const SHORT_ESCAPES = new Map([
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\u0007", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
]);

/** The text in double quotes, escaped as Go's `%q` does. */
export function quoted(text: string): string {
  return `"${text.replace(ESCAPED, escape)}"`;
}

function escape(character: string): string {
  const short = SHORT_ESCAPES.get(character);
  if (short !== undefined) return short;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${hex(character, 2)}`;
  return code <= 0xffff ? `\\u${hex(character, 4)}` : `\\U${hex(character, 8)}`;
}

function hex(character: string, digits: number): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(digits, "0");
}
