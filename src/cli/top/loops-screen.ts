/** The controllers on the whole terminal. */
import type { Loop } from "../../base/loop/loop.ts";
import type { ScreenSize } from "../terminal/frame.ts";
import type { Key } from "../terminal/key-reader.ts";
import { ScreenRun } from "../terminal/screen-run.ts";
import type { ColourDepth } from "../terminal/style.ts";
import type { FullScreen } from "../terminal/terminal.ts";
import { drawLoops, tableRows, type LoopsPicture } from "./draw-loops.ts";
import { NO_READING, type LoopsReading } from "./loops-reading.ts";

/** Readings whose passes are drawn as a line. */
const HISTORY = 16;

export interface LoopsScreenParts {
  readonly screen: FullScreen;
  readonly loop: Loop;
  readonly depth: ColourDepth;
}

/** Shows each reading until the user quits or the signal is aborted. */
export async function showLoops(
  readings: (signal: AbortSignal) => AsyncIterable<LoopsReading>,
  parts: LoopsScreenParts,
  signal: AbortSignal,
): Promise<void> {
  let picture: LoopsPicture = { reading: NO_READING, history: new Map(), firstRow: 0 };
  const run = new ScreenRun({
    ...parts,
    draw: (size) => drawLoops(size, picture),
    onKey: (key) => {
      if (key.char === "q" || key.name === "escape") run.quit();
      else picture = { ...picture, firstRow: scrolled(picture, key, run.size) };
    },
  });
  await run.run(async (own) => {
    for await (const reading of readings(own)) {
      picture = { ...picture, reading, history: withPasses(picture.history, reading) };
      run.refresh();
    }
  }, signal);
}

const STEPS: Readonly<Partial<Record<Key["name"], number>>> = {
  up: -1,
  down: 1,
  "page-up": -10,
  "page-down": 10,
  home: -Infinity,
  end: Infinity,
};

function scrolled({ reading, firstRow }: LoopsPicture, { name }: Key, size: ScreenSize): number {
  const last = Math.max(0, reading.loops.length - tableRows(size, reading));
  return Math.max(0, Math.min(last, firstRow + (STEPS[name] ?? 0)));
}

/** Bounded by the controllers of the last reading. */
function withPasses(
  before: LoopsPicture["history"],
  { loops, trouble }: LoopsReading,
): LoopsPicture["history"] {
  if (trouble !== undefined) return before;
  return new Map(
    loops.map(({ controller, passesPerSecond }) => [
      controller,
      [...(before.get(controller) ?? []), passesPerSecond].slice(-HISTORY),
    ]),
  );
}
