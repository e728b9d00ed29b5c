/** Text for and from a POSIX shell. */

/** The value as one word of a shell command. */
export function quoteWord(value: string): string {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;
}

export function quoteWords(words: readonly string[]): string {
  return words.map(quoteWord).join(" ");
}

/** Words of a command line with quotes and backslashes, without expansions; undefined for an open quote. */
export function splitWords(line: string): readonly string[] | undefined {
  const words: string[] = [];
  const piece = /\s+|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)/gsy;
  let word: string | undefined;
  while (piece.lastIndex < line.length) {
    const match = piece.exec(line);
    if (match === null) return undefined;
    const [, single, double, escaped, plain] = match;
    const text = single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? escaped ?? plain;
    if (text !== undefined) word = (word ?? "") + text;
    else if (word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  return word === undefined ? words : [...words, word];
}
