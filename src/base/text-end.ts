/** The end of a text, looked at from the end: a regular expression like `x+$` starts anew at every x, and stalls on a long row of them. */

/** Where the repetitions of one character begin that a text ends with; its length when there are none. */
export function endOfBody(text: string, character: string): number {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return end;
}
