/** Text of the help panel. Pure. */
import { phaseGlyph, type Glyphs } from "./pod-marks.ts";
import { PHASE_LOOKS, POD_PHASES } from "./pod-phase.ts";

export function helpLines(glyphs: Glyphs): readonly string[] {
  const signs = POD_PHASES.map((phase) => `${phaseGlyph(phase, glyphs)} ${PHASE_LOOKS[phase].word}`);
  return [
    "each sign is a pod",
    `  ${signs.slice(0, 4).join("    ")}`,
    `  ${signs.slice(4).join("    ")}    × just deleted    · filtered out`,
    "  A phase is shown for a quarter of a second at least, so that eyes can follow; Events have the true times.",
    "keys",
    "  arrows  select a pod, or a node by its name      Tab   Events, and back",
    "  k, Del  delete the pod (asks first)               f     cut the power of a simulated node, or give it back",
    "  + -     scale what owns the pod                   w, Enter  why is it so? (setpoint why)",
    "  /       filter: part of NAMESPACE/NAME, or label=value; Esc clears",
    "  z       zoom: a line, a sign, a row or a dot for each",
    "  PgUp PgDn  scroll this panel; Esc closes it       q     quit",
  ];
}
