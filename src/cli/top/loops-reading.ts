/** Readings of the controllers' metrics, one after each interval. */
import { Event } from "../../api/generated/types/core-v1.ts";
import { errorText } from "../../base/error-text.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { pause } from "../../base/loop/pause.ts";
import type { Client } from "../../client/client.ts";
import { loopFigures, type LoopFigures, type Reading } from "../../insight/loops/loop-figures.ts";
import { parseMetrics } from "../../insight/loops/metrics-text.ts";

export interface LoopsReading {
  readonly loops: readonly LoopFigures[];
  /** Events about loops that do not settle. */
  readonly fights: readonly Event[];
  /** Why the figures are old; undefined for a new reading. */
  readonly trouble: string | undefined;
}

export const NO_READING: LoopsReading = { loops: [], fights: [], trouble: undefined };

export interface ReadingOptions {
  readonly intervalMs: number;
  readonly signal: AbortSignal;
}

/** Rejects when a reading fails. */
export async function* readLoops(
  client: Client,
  loop: Loop,
  { intervalMs, signal }: ReadingOptions,
): AsyncGenerator<LoopsReading> {
  let before = await readMetrics(client, loop);
  for (;;) {
    await pause(loop, { ms: intervalMs, kind: "progress" }, signal);
    if (signal.aborted) return;
    const after = await readMetrics(client, loop);
    const { items: fights } = await client(Event).list({ fieldSelector: "reason=HotLoop" });
    yield { loops: loopFigures(before, after), fights, trouble: undefined };
    before = after;
  }
}

/** Tries again after a failure, and says why the figures are old. */
export async function* keepReading(
  client: Client,
  loop: Loop,
  options: ReadingOptions,
): AsyncGenerator<LoopsReading> {
  let last = NO_READING;
  while (!options.signal.aborted) {
    try {
      for await (const reading of readLoops(client, loop, options)) {
        last = reading;
        yield reading;
      }
    } catch (error) {
      if (options.signal.aborted) return;
      yield { ...last, trouble: errorText(error) };
      await pause(loop, { ms: options.intervalMs, kind: "progress" }, options.signal);
    }
  }
}

async function readMetrics(client: Client, loop: Loop): Promise<Reading> {
  const text = await client.request({ path: "/metrics" });
  return { samples: parseMetrics(String(text)), at: loop.elapsed() };
}
