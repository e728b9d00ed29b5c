/** Styles of text by meaning, and their ANSI codes. Pure. */

export type Tone =
  | "plain"
  | "dim"
  | "faint"
  | "bright"
  | "accent"
  | "good"
  | "busy"
  | "waiting"
  | "ending"
  | "bad"
  | "done";

/** `selected` is drawn reversed, so that it shows without colours too; `alert` is bold there. */
export type Mark = "bold" | "selected" | "alert";

export type Style = Tone | `${Tone} ${Mark}`;

export type ColourDepth = "none" | "16" | "256";

/** Foreground codes for 16 and for 256 colours. */
const TONES: Readonly<Record<Tone, readonly [of16: string, of256: string]>> = {
  plain: ["", ""],
  dim: ["90", "38;5;245"],
  faint: ["90", "38;5;239"],
  bright: ["97", "38;5;255"],
  accent: ["36", "38;5;80"],
  good: ["32", "38;5;78"],
  busy: ["34", "38;5;75"],
  waiting: ["33", "38;5;221"],
  ending: ["35", "38;5;176"],
  bad: ["31", "38;5;203"],
  done: ["36", "38;5;109"],
};

const MARKS: Readonly<Record<Mark, string>> = { bold: "1", selected: "1;7", alert: "7" };

/** Terminals that name their colours; others get 16. */
export function colourDepth(
  hasColours: boolean,
  env: Readonly<Record<string, string | undefined>>,
): ColourDepth {
  if (!hasColours) return "none";
  const { TERM = "", COLORTERM = "" } = env;
  return /256|direct|kitty|alacritty|ghostty/.test(TERM) || /truecolor|24bit/.test(COLORTERM) ? "256" : "16";
}

/** Escape sequence that sets the style and resets any other. Without colours only the marks count. */
export function styleCode(style: Style, depth: ColourDepth): string {
  const [tone, mark] = style.split(" ") as [Tone, Mark?];
  const colour = depth === "none" ? "" : TONES[tone][depth === "16" ? 0 : 1];
  const marked = mark === "alert" && depth === "none" ? MARKS.bold : mark === undefined ? "" : MARKS[mark];
  const codes = ["0", marked, colour].filter((code) => code !== "");
  return `\u001B[${codes.join(";")}m`;
}
