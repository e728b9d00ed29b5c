// Writes docs/watch.svg: one picture that `setpoint watch --once` prints of a cluster with pods in every phase. The guide
// shows it. Needs the optional package @lydell/node-pty.
//
//   npm run build && node scripts/generate-watch-picture.mjs
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { spawn as spawnOnTerminal } from "@lydell/node-pty";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PROGRAM = join(ROOT, "dist/cli.js");
const COLUMNS = 118;
const ROWS = 26;
const LINE_HEIGHT = 18;
const CHAR_WIDTH = 8.43;
const PADDING = 16;
const FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
/** Time in which the pods reach their phases. */
const SETTLE_MS = 8000;

const SIMULATED = "simulated.setpoint.dev";
const home = mkdtempSync(join(tmpdir(), "setpoint-picture-"));
try {
  writeFileSync(join(ROOT, "docs/watch.svg"), svgOf(await recorded()));
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** Objects whose pods end in different phases. */
function objects() {
  return [
    deployment("web", 6, {}),
    deployment("crash", 1, { annotations: { [`${SIMULATED}/exit-code`]: "1" } }),
    deployment("slow", 2, { annotations: { [`${SIMULATED}/start-delay`]: "never" } }),
    deployment("warming", 1, { annotations: { [`${SIMULATED}/ready-after`]: "never" } }),
    deployment("giant", 2, { cpu: "100" }),
    {
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "report" },
      spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "app", image: "app" }] } } },
    },
  ];
}

/**
 * @param {string} name
 * @param {number} replicas
 * @param {{ readonly annotations?: Readonly<Record<string, string>>, readonly cpu?: string }} pod
 */
function deployment(name, replicas, { annotations = {}, cpu = "10m" }) {
  const labels = { app: name };
  const containers = [{ name: "app", image: "app:1", resources: { requests: { cpu } } }];
  const template = { metadata: { labels, annotations }, spec: { containers } };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: { replicas, selector: { matchLabels: labels }, template },
  };
}

/** @returns {Promise<string>} */
async function recorded() {
  const env = { ...process.env, HOME: home, USERPROFILE: home, LANG: "C.UTF-8", COLORTERM: "truecolor" };
  const args = ["up", "--data-dir", join(home, "state"), "--listen", "127.0.0.1:0", "--store", "memory"];
  const cluster = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["ignore", "pipe", "inherit"], env });
  const ended = new Promise((resolve) => cluster.once("exit", resolve));
  try {
    for await (const line of createInterface({ input: cluster.stdout })) if (line.includes("is ready")) break;
    const access = ["--data-dir", join(home, "state")];
    const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects() });
    spawnSync(process.execPath, [PROGRAM, "apply", "-f", "-", ...access], { input, env, stdio: "pipe" });
    await sleep(SETTLE_MS);
    return await printed([PROGRAM, "watch", "--once", "-n", "default", ...access], env);
  } finally {
    cluster.kill("SIGTERM");
    await ended;
  }
}

/**
 * Output of a program on a terminal.
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string>}
 */
function printed(args, env) {
  return new Promise((resolve) => {
    const terminal = spawnOnTerminal(process.execPath, args, { cols: COLUMNS, rows: ROWS, env });
    let text = "";
    terminal.onData((piece) => (text += piece));
    terminal.onExit(() => resolve(text));
  });
}

/** @param {string} output */
function svgOf(output) {
  const lines = output.trimEnd().split("\r\n");
  const width = Math.ceil(COLUMNS * CHAR_WIDTH + 2 * PADDING);
  const height = lines.length * LINE_HEIGHT + 2 * PADDING;
  const rows = lines.map((line, index) => rowOf(line, PADDING + (index + 1) * LINE_HEIGHT - 5));
  return `<!-- Made by scripts/generate-watch-picture.mjs from a frame of setpoint watch. Do not edit. -->
<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>Picture of a terminal: setpoint watch shows three nodes with their pods in different phases, and Events below</title>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="9" fill="#0d1117" stroke="#6e7681"/>
<g font-family="${FONTS}" font-size="14">
${rows.join("\n")}
</g>
</svg>
`;
}

/**
 * Words of one style are placed by their column, so that fonts with other widths keep the columns.
 * @param {string} line
 * @param {number} y
 */
function rowOf(line, y) {
  let column = 0;
  let style = { fill: "#c9d1d9", isBold: false };
  const pieces = [];
  for (const part of line.split(/(\p{Cc}\[[\d;]*m)/u)) {
    if (/^\p{Cc}\[/u.test(part)) style = styleOf(part.slice(2, -1).split(";").map(Number));
    else {
      const weight = style.isBold ? ' font-weight="600"' : "";
      for (const { 0: words, index } of part.matchAll(/\S+(?: \S+)*/g)) {
        const x = (PADDING + (column + index) * CHAR_WIDTH).toFixed(1);
        const length = (words.length * CHAR_WIDTH).toFixed(1);
        const place = `x="${x}" y="${y}" textLength="${length}"`;
        pieces.push(`<text ${place} fill="${style.fill}"${weight}>${escaped(words)}</text>`);
      }
      column += part.length;
    }
  }
  return pieces.join("");
}

/** @param {readonly number[]} codes */
function styleOf(codes) {
  const at = codes.indexOf(38);
  return { fill: at < 0 ? "#c9d1d9" : colourOf(codes[at + 2] ?? 0), isBold: codes.includes(1) };
}

/** A colour of the palette of 256: a cube of colours, then greys. @param {number} index */
function colourOf(index) {
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return `rgb(${grey},${grey},${grey})`;
  }
  const levels = [0, 95, 135, 175, 215, 255];
  const cube = index - 16;
  return `rgb(${levels[Math.floor(cube / 36)]},${levels[Math.floor(cube / 6) % 6]},${levels[cube % 6]})`;
}

/** @param {string} content */
function escaped(content) {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
