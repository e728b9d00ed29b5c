/**
 * Finds trailing characters by scanning backwards. A regular expression such as `x+$` retries at every x, which is
 * quadratic on a long run.
 */

/** Index at which the trailing repetitions of a character begin; the length of the text when it has none. */
export function indexOfTrailing(text: string, character: string): number {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return end;
}
