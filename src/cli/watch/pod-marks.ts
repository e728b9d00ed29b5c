/** How pods are drawn: the shape or letter of a cell, and its style. Pure. */
import { grouped } from "../count-text.ts";
import type { Span } from "../terminal/frame.ts";
import { FRESH_MS } from "./cluster-model.ts";
import type { PhaseCounts, PodEntry } from "./node-box.ts";
import { PHASE_LOOKS, POD_PHASES, type PodPhase } from "./pod-phase.ts";

/** `letters` for terminals without colours, `ascii` for those without Unicode. */
export type Glyphs = "shapes" | "letters" | "ascii";

const GHOST: Span = ["×", "faint"];
const HIDDEN: Span = ["·", "faint"];
const ASCII: Readonly<Record<string, string>> = {
  "×": "x",
  "·": ".",
  "…": "~",
  "╭": "+",
  "╮": "+",
  "╰": "+",
  "╯": "+",
  "─": "-",
  "│": "|",
  "●": "*",
  "▸": ">",
  "→": ">",
  "↑": "^",
  "↓": "v",
  "└": "`",
  "├": "|",
};

export function phaseGlyph(phase: PodPhase, glyphs: Glyphs): string {
  const { shape, letter } = PHASE_LOOKS[phase];
  return glyphs === "shapes" ? shape : letter;
}

export interface CellView {
  readonly glyphs: Glyphs;
  /** Elapsed time. */
  readonly now: number;
}

/** One character. A cell that has just changed is reversed for a moment. */
export function cellOf(entry: PodEntry, { glyphs, now }: CellView): Span {
  if (entry.isGhost) return GHOST;
  if (!entry.isMatch) return HIDDEN;
  const { phase } = entry.shown;
  const { tone } = PHASE_LOOKS[phase];
  const isFresh = now - entry.changedAt < FRESH_MS;
  return [phaseGlyph(phase, glyphs), isFresh ? `${tone} alert` : tone];
}

/** `● 10 ready  ◔ 1 creating`, without the words when they would not fit. */
export function countSpans(counts: PhaseCounts, glyphs: Glyphs, hasWords: boolean): readonly Span[] {
  return POD_PHASES.filter((phase) => counts[phase] > 0).flatMap((phase): readonly Span[] => {
    const { tone, word } = PHASE_LOOKS[phase];
    return [
      [`${phaseGlyph(phase, glyphs)} ${grouped(counts[phase])}`, tone],
      [hasWords ? ` ${word}  ` : " ", "dim"],
    ];
  });
}

/** Replaces the characters that a terminal without Unicode cannot show. */
export function asciiChar(char: string): string {
  return char < "\u007F" ? char : (ASCII[char] ?? "?");
}

/** The phase of a node's pods that needs attention first. */
export function worstPhase(counts: PhaseCounts): PodPhase | undefined {
  const order: readonly PodPhase[] = [
    "failed",
    "failing",
    "ending",
    "unscheduled",
    "creating",
    "starting",
    "ready",
    "done",
  ];
  return order.find((phase) => counts[phase] > 0);
}
