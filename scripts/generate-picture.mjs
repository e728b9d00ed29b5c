// Writes docs/picture.svg: a terminal recording of a real run of the built program with kubectl. The README shows it.
// Address and data dir are printed as their defaults; everything else is real output.
//
//   npm run build && node scripts/generate-picture.mjs
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const COLUMNS = 80;
const LINE_HEIGHT = 19;
const CHAR_WIDTH = 8.43;
const PADDING = 18;
const TITLE_HEIGHT = 34;
const FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
/** Time between the lines of the recording, in seconds. */
const LINE_S = 0.12;
/** Pauses before a command and before its output, in seconds. */
const TYPE_S = 1.1;
const RUN_S = 0.5;

const REST_MS = 3000;

/** @typedef {{ readonly text: string, readonly isCommand: boolean }} Line */

const home = mkdtempSync(join(tmpdir(), "setpoint-picture-"));
try {
  writeFileSync(join(ROOT, "docs/picture.svg"), svgOf(await recorded()));
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** @returns {Promise<readonly Line[]>} */
async function recorded() {
  const dataDir = join(home, "state");
  const args = [join(ROOT, "dist/cli.js"), "up", "--data-dir", dataDir, "--listen", "127.0.0.1:0"];
  const env = { ...process.env, HOME: home, USERPROFILE: home };
  const program = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], env });
  const ended = new Promise((resolve) => program.once("exit", resolve));
  try {
    const ready = await readyLine(program.stdout);
    const shell = shellOf(join(dataDir, "kubeconfig"));
    await shell.eventually("kubectl get serviceaccount default");
    /** @type {Line[]} */
    const lines = [
      { text: "setpoint up &", isCommand: true },
      {
        text: ready.replace(/127\.0\.0\.1:\d+/, "127.0.0.1:6443").replace(dataDir, "/home/jo/.setpoint"),
        isCommand: false,
      },
    ];
    /** @param {string} command */
    const show = async (command) => {
      const output = await shell.run(command);
      lines.push(
        { text: command, isCommand: true },
        ...linesOf(output).map((text) => ({ text, isCommand: false })),
      );
      return output;
    };
    await show("kubectl create deployment web --image=nginx --replicas=3");
    await shell.run("kubectl rollout status deployment/web");
    const pods = await show("kubectl get pods");
    // The replacement is visibly younger.
    await sleep(REST_MS);
    const [victim = ""] = pods.match(/^web-\S+/m) ?? [];
    await show(`kubectl delete pod ${victim}`);
    await sleep(REST_MS);
    await show("kubectl get pods");
    return lines;
  } finally {
    program.kill("SIGTERM");
    await ended;
  }
}

/**
 * @param {NodeJS.ReadableStream} stream
 * @returns {Promise<string>}
 */
async function readyLine(stream) {
  for await (const line of createInterface({ input: stream })) if (line.includes("is ready")) return line;
  throw new Error("setpoint up ended before it was ready");
}

/** @param {string} kubeconfig */
function shellOf(kubeconfig) {
  const env = { ...process.env, KUBECONFIG: kubeconfig, HOME: home };
  /** @param {string} command */
  const run = async (command) => (await promisify(execFile)("sh", ["-c", command], { env })).stdout;
  return {
    run,
    /** @param {string} command */
    eventually: async (command) => {
      for (let left = 50; ; left--) {
        try {
          return await run(command);
        } catch (error) {
          if (left === 0) throw error;
          await sleep(100);
        }
      }
    },
  };
}

/** @param {string} text */
function linesOf(text) {
  return text.split("\n").flatMap((line) => (line === "" ? [] : [line.trimEnd().slice(0, COLUMNS - 1)]));
}

/** @param {readonly Line[]} lines */
function svgOf(lines) {
  const width = Math.ceil(COLUMNS * CHAR_WIDTH + 2 * PADDING);
  const height = TITLE_HEIGHT + lines.length * LINE_HEIGHT + PADDING;
  let at = 0;
  const rows = lines.map((line, index) => {
    at += line.isCommand ? TYPE_S : (lines[index - 1]?.isCommand ?? false) ? RUN_S : LINE_S;
    return row(line, TITLE_HEIGHT + (index + 1) * LINE_HEIGHT - 4, at);
  });
  const title = `Recording of a terminal: ${lines
    .filter(({ isCommand }) => isCommand)
    .map(({ text }) => text)
    .join("; ")}`;
  return `<!-- Made by scripts/generate-picture.mjs. Do not edit. -->
<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escaped(title)}</title>
<style>
@keyframes show { from { opacity: 0; } to { opacity: 1; } }
@media (prefers-reduced-motion: no-preference) { .row { animation: show 0.05s both; } }
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="9" fill="#0d1117" stroke="#6e7681"/>
<circle cx="20" cy="18" r="5.5" fill="#ff5f57"/><circle cx="38" cy="18" r="5.5" fill="#febc2e"/><circle cx="56" cy="18" r="5.5" fill="#28c840"/>
<g font-family="${FONTS}" font-size="14">
${rows.join("\n")}
</g>
</svg>
`;
}

/**
 * @param {Line} line
 * @param {number} y
 * @param {number} at seconds from the start
 */
function row({ text, isCommand }, y, at) {
  const isHeading = /^[A-Z]+(?: {2,}[A-Z -]+)+$/.test(text);
  const fill = isCommand ? "#f0f6fc" : isHeading ? "#8b949e" : "#c9d1d9";
  const prompt = isCommand ? '<tspan fill="#3fb950">$ </tspan>' : "";
  const content = escaped(text).replaceAll("Running", '<tspan fill="#3fb950">Running</tspan>');
  const weight = isCommand ? ' font-weight="600"' : "";
  return `<text class="row" xml:space="preserve" x="${PADDING}" y="${y}" fill="${fill}"${weight} style="animation-delay:${at.toFixed(2)}s">${prompt}${content}</text>`;
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
