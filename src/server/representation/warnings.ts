/** Warnings for people, as kubectl prints them on standard error. */

/** Above this many characters in all, each warning is cut short; what still does not fit is left out. As upstream's. */
const TOTAL_MAX = 4096;
const SHORT_MAX = 256;

/** The value of one `Warning` header for all of them; undefined without any. */
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

/** Headers are bytes: each character here stands for one byte of the UTF-8 text. */
function quoted(text: string): string {
  const plain = text.replaceAll(/\p{Cc}+/gu, " ").replaceAll(/[\\"]/g, String.raw`\$&`);
  return `299 - "${Buffer.from(plain).toString("latin1")}"`;
}
