/** Writes the `Warning` header, which kubectl prints on standard error. */

/**
 * Above this total of characters each warning is truncated. Warnings that still do not fit are dropped, as upstream.
 */
const TOTAL_MAX = 4096;
const SHORT_MAX = 256;

/** Value of one `Warning` header for all warnings; undefined without any. */
export function warningHeader(warnings: readonly string[]): string | undefined {
  const texts = [...new Set(warnings)].filter((text) => text !== "");
  if (texts.length === 0) return undefined;
  const total = texts.join("").length;
  return fitting(total > TOTAL_MAX ? texts.map((text) => text.slice(0, SHORT_MAX)) : texts)
    .map(quoted)
    .join(", ");
}

function fitting(texts: readonly string[]): readonly string[] {
  let left = TOTAL_MAX;
  return texts.filter((text) => {
    left -= text.length;
    return left >= 0;
  });
}

/** Headers are bytes: each character of the result is one byte of the UTF-8 text. */
function quoted(text: string): string {
  const plain = text.replaceAll(/\p{Cc}+/gu, " ").replaceAll(/[\\"]/g, String.raw`\$&`);
  return `299 - "${Buffer.from(plain).toString("latin1")}"`;
}
