/** Columns that text takes on a terminal. Pure. */

/** Marks, joiners and selectors that a terminal draws over the character before. */
const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
/** Control characters, and marks that reverse the direction of text. */
const CONTROL = /[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;

/** First and last code points of characters that take two columns. */
const WIDE: readonly (readonly [first: number, last: number])[] = [
  [0x11_00, 0x11_5f],
  [0x2e_80, 0x30_3e],
  [0x30_41, 0xa4_cf],
  [0xa9_60, 0xa9_7f],
  [0xac_00, 0xd7_a3],
  [0xf9_00, 0xfa_ff],
  [0xfe_30, 0xfe_6f],
  [0xff_00, 0xff_60],
  [0xff_e0, 0xff_e6],
  [0x1_f3_00, 0x1_f6_4f],
  [0x1_f6_80, 0x1_f6_ff],
  [0x1_f9_00, 0x1_f9_ff],
  [0x2_00_00, 0x3_ff_fd],
];

/** 0, 1 or 2. */
export function charWidth(char: string): number {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x3_00) return 1;
  if (ZERO_WIDTH.test(char)) return 0;
  return WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}

export function textWidth(text: string): number {
  let width = 0;
  for (const char of text) width += charWidth(char);
  return width;
}

/** The text without control characters, cut with `…` to at most `columns`. */
export function fitText(text: string, columns: number): string {
  const line = oneLine(text);
  if (textWidth(line) <= columns) return line;
  if (columns < 1) return "";
  let [fitting, width] = ["", 0];
  for (const char of line) {
    width += charWidth(char);
    if (width > columns - 1) break;
    fitting += char;
  }
  return `${fitting}…`;
}

/** The text cut or filled with spaces to exactly `columns`. */
export function padText(text: string, columns: number): string {
  const fitting = fitText(text, columns);
  return fitting + " ".repeat(Math.max(0, columns - textWidth(fitting)));
}

/** The text without line breaks and other control characters: a log or a message may hold sequences for the terminal. */
export function oneLine(text: string): string {
  return text.replaceAll(CONTROL, " ");
}

/** The lines broken at spaces to at most `columns`; the lines after a break are indented by two more. */
export function wrapLines(lines: readonly string[], columns: number): readonly string[] {
  return lines.flatMap((line) => {
    const indent = `${/^ */.exec(line)?.[0] ?? ""}  `;
    return wrapText(line, columns, indent);
  });
}

/** One line broken at spaces; `indent` begins each line after a break. */
export function wrapText(line: string, columns: number, indent: string): readonly string[] {
  const width = Math.max(columns, 10);
  const begin = indent.slice(0, Math.floor(width / 2));
  const wrapped: string[] = [];
  let rest = oneLine(line);
  while (textWidth(rest) > width) {
    const fitting = fitText(rest, width).slice(0, -1);
    const space = fitting.lastIndexOf(" ");
    const end = space > begin.length ? space : fitting.length;
    wrapped.push(rest.slice(0, end).trimEnd());
    rest = begin + rest.slice(end).trimStart();
  }
  return [...wrapped, rest];
}
