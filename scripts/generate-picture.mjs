// Writes docs/picture.svg: a recording of `setpoint demo`, scene by scene. The README shows it. The demo runs on a
// virtual clock, so the same program gives the same picture.
//
//   npm run build && node scripts/generate-picture.mjs
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const COLUMNS = 100;
const ROWS = 15;
const LINE_HEIGHT = 19;
const CHAR_WIDTH = 8.43;
const PADDING = 18;
const TITLE_HEIGHT = 34;
const FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
/** Time between the lines of a scene, and to read the scene, in seconds. */
const LINE_S = 0.35;
const SCENE_S = 3;
/** The scene that viewers without animations see. */
const STILL_SCENE = 1;

const COLOURS = { text: "#c9d1d9", faint: "#8b949e", bright: "#f0f6fc" };
/** Colours of the letters with which the demo draws pods without colours. */
const PODS = /** @type {Readonly<Record<string, string>>} */ ({
  R: "#3fb950",
  s: "#d29922",
  F: "#f85149",
  x: "#bc8cff",
  d: "#6e7681",
});

const text = execFileSync(process.execPath, [join(ROOT, "dist/cli.js"), "demo", "--fast"], {
  encoding: "utf8",
});
writeFileSync(join(ROOT, "docs/picture.svg"), svgOf(scenesIn(text)));

/**
 * Lines of each scene, its title first.
 * @param {string} story
 * @returns {readonly (readonly string[])[]}
 */
function scenesIn(story) {
  /** @type {string[][]} */
  const scenes = [];
  for (const line of story.split("\n")) {
    if (/^\d+\. /.test(line)) scenes.push([]);
    if (line.startsWith("Try it ")) break;
    scenes.at(-1)?.push(shortened(line));
  }
  return scenes.map((lines) => trimmed(lines).slice(0, ROWS));
}

/**
 * Times and revisions are the edge of the story; the picture has no room for them.
 * @param {string} line
 */
function shortened(line) {
  const told = line
    .replace(/^( {2}did {6})[\d:.]+ +rev \d+ +\w+: /, "$1")
    .replace(/ {2,}\d\d:\d\d:\d\d\.\d+ +rev \d+.*$/, "")
    .replace(/ {2,}pass \d+.*$/, "");
  return told.length < COLUMNS ? told : `${told.slice(0, COLUMNS - 2)}…`;
}

/**
 * Without empty lines at the end, and without two in a row.
 * @param {readonly string[]} lines
 */
function trimmed(lines) {
  const kept = lines.filter((line, index) => line.trim() !== "" || (lines[index + 1] ?? "").trim() !== "");
  return kept.at(-1)?.trim() === "" ? kept.slice(0, -1) : kept;
}

/** @param {readonly (readonly string[])[]} scenes */
function svgOf(scenes) {
  const width = Math.ceil(COLUMNS * CHAR_WIDTH + 2 * PADDING);
  const height = TITLE_HEIGHT + ROWS * LINE_HEIGHT + PADDING;
  const durations = scenes.map((lines) => lines.length * LINE_S + SCENE_S);
  const total = durations.reduce((sum, each) => sum + each, 0);
  /** @type {string[]} */
  const frames = [];
  let at = 0;
  const groups = scenes.map((lines, scene) => {
    const end = at + (durations[scene] ?? 0);
    frames.push(keyframes(`s${scene}`, at / total, end / total));
    const rows = lines.map((line, index) => {
      const name = `s${scene}l${index}`;
      if (index > 0) frames.push(keyframes(name, (at + index * LINE_S) / total, end / total));
      return row(line, index, index === 0 ? "" : name);
    });
    const still = scene === STILL_SCENE ? "" : ' class="moving"';
    at = end;
    return `<g${still} style="animation-name:s${scene}">\n${rows.join("\n")}\n</g>`;
  });
  return `<!-- Made by scripts/generate-picture.mjs from setpoint demo. Do not edit. -->
<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>Recording of a terminal: setpoint demo. ${escaped(scenes.map(([title = ""]) => title).join(". "))}</title>
<style>
.moving { visibility: hidden; }
@media (prefers-reduced-motion: no-preference) {
g, .row { animation-duration: ${total.toFixed(1)}s; animation-iteration-count: infinite; animation-timing-function: step-end; }
${frames.join("\n")}
}
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="9" fill="#0d1117" stroke="#6e7681"/>
<circle cx="20" cy="18" r="5.5" fill="#ff5f57"/><circle cx="38" cy="18" r="5.5" fill="#febc2e"/><circle cx="56" cy="18" r="5.5" fill="#28c840"/>
<text x="${width / 2}" y="22" fill="${COLOURS.faint}" font-family="${FONTS}" font-size="13" text-anchor="middle">setpoint demo</text>
<g font-family="${FONTS}" font-size="14">
${groups.join("\n")}
</g>
</svg>
`;
}

/**
 * Visible between two parts of the recording.
 * @param {string} name
 * @param {number} from
 * @param {number} to
 */
function keyframes(name, from, to) {
  const begin = from === 0 ? "" : `0% { visibility: hidden; } `;
  const end = to > 0.9999 ? "" : `${percent(to)} { visibility: hidden; } `;
  return `@keyframes ${name} { ${begin}${percent(from)} { visibility: visible; } ${end}}`;
}

/** @param {number} share */
function percent(share) {
  return `${(share * 100).toFixed(2)}%`;
}

/**
 * @param {string} line
 * @param {number} index
 * @param {string} animation
 */
function row(line, index, animation) {
  const y = TITLE_HEIGHT + (index + 1) * LINE_HEIGHT - 4;
  const isTitle = index === 0;
  const isCommand = line.startsWith("  $ ");
  const fill = isTitle || isCommand ? COLOURS.bright : COLOURS.text;
  const weight = isTitle || isCommand ? ' font-weight="600"' : "";
  const style = animation === "" ? "" : ` class="row" style="animation-name:${animation}"`;
  return `<text${style} xml:space="preserve" x="${PADDING}" y="${y}" fill="${fill}"${weight}>${painted(line)}</text>`;
}

/** @param {string} line */
function painted(line) {
  const pods = /^( {2}is {7})([RsFxd]+)( .*)$/.exec(line);
  if (pods !== null) {
    const [, label = "", cells = "", rest = ""] = pods;
    const marks = cells.replaceAll(/(.)\1*/g, (run) =>
      span("■".repeat(run.length), PODS[run[0] ?? ""] ?? COLOURS.text),
    );
    return span(label, COLOURS.faint) + marks + escaped(rest);
  }
  const labelled = /^( {2}(?:desired|is|did|log) +)(.*)$/.exec(line);
  if (labelled !== null) return span(labelled[1] ?? "", COLOURS.faint) + escaped(labelled[2] ?? "");
  if (line.startsWith("  $ ")) return `  ${span("$", "#3fb950")} ${escaped(line.slice(4))}`;
  return escaped(line);
}

/** @param {string} content @param {string} fill */
function span(content, fill) {
  return `<tspan fill="${fill}">${escaped(content)}</tspan>`;
}

/** @param {string} content */
function escaped(content) {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
