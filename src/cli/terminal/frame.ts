import { charWidth } from "../../insight/text/text-width.ts";
/** One picture of the terminal: a grid of characters with styles. */
import type { Style } from "./style.ts";

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

export interface Place {
  readonly x: number;
  readonly y: number;
}

/** Text with a style; a line is a list of them. */
export type Span = readonly [text: string, style: Style];

const CONTROL = /^\p{Cc}$/u;

export class Frame implements ScreenSize {
  readonly columns: number;
  readonly rows: number;
  /** A character a cell, row by row; empty behind a character that takes two columns. */
  readonly chars: string[];
  readonly styles: Style[];

  constructor({ columns, rows }: ScreenSize) {
    this.columns = columns;
    this.rows = rows;
    this.chars = Array.from({ length: columns * rows }, () => " ");
    this.styles = Array.from({ length: columns * rows }, (): Style => "plain");
  }

  /** Writes text. What lies outside of the frame is cut off. */
  put({ x, y }: Place, text: string, style: Style = "plain"): void {
    if (y < 0 || y >= this.rows) return;
    let column = x;
    for (const char of text) {
      const width = charWidth(char);
      if (column + width > this.columns) return;
      if (column >= 0 && width > 0) this.#set(y * this.columns + column, char, style);
      if (column >= 0 && width === 2) this.#set(y * this.columns + column + 1, "", style);
      column += width;
    }
  }

  /** Writes spans behind each other. Returns the column after the last. */
  putSpans({ x, y }: Place, spans: readonly Span[]): number {
    let column = x;
    for (const [text, style] of spans) {
      this.put({ x: column, y }, text, style);
      for (const char of text) column += charWidth(char);
    }
    return column;
  }

  /** Replaces each character. */
  replace(change: (char: string) => string): void {
    for (const [at, char] of this.chars.entries())
      if (char !== " " && char !== "") this.chars[at] = change(char);
  }

  /** The characters without styles, without blanks at the ends of lines and blank lines at the end. */
  text(): string {
    const lines = Array.from({ length: this.rows }, (_, y) =>
      this.chars
        .slice(y * this.columns, (y + 1) * this.columns)
        .join("")
        .trimEnd(),
    );
    return `${lines.join("\n").trimEnd()}\n`;
  }

  #set(at: number, char: string, style: Style): void {
    this.chars[at] = CONTROL.test(char) ? " " : char;
    this.styles[at] = style;
  }
}
