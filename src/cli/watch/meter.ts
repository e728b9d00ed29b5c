/** Reads the passes of controllers and the objects that are not as desired from the server's metrics, again and again. */
import type { Loop } from "../../base/loop/loop.ts";
import { pause } from "../../base/loop/pause.ts";
import type { Client } from "../../client/client.ts";
import { parseMetrics, type Sample } from "../../insight/loops/metrics-text.ts";

const EVERY_MS = 1000;
const PASSES = "setpoint_controller_reconciles_total";
const DRIFT = "setpoint_drift_objects";

export interface Meter {
  /** Undefined until two readings; and where the server has no such metrics, or the user may not read them. */
  readonly passesPerSecond: number | undefined;
  readonly notConverged: number | undefined;
}

export const NO_METER: Meter = { passesPerSecond: undefined, notConverged: undefined };

export async function runMeter(
  client: Client,
  loop: Loop,
  { signal, onReading }: { readonly signal: AbortSignal; readonly onReading: (meter: Meter) => void },
): Promise<void> {
  let before: Totals | undefined;
  while (!signal.aborted) {
    const now = await readTotals(client, loop);
    if (!signal.aborted) onReading(now === undefined ? NO_METER : meterOf(before, now));
    before = now;
    await pause(loop, { ms: EVERY_MS, kind: "periodic" }, signal);
  }
}

interface Totals {
  readonly at: number;
  readonly passes: number | undefined;
  readonly drift: number | undefined;
}

/** Undefined when the metrics cannot be read. The next reading tries again. */
async function readTotals(client: Client, loop: Loop): Promise<Totals | undefined> {
  try {
    const samples = parseMetrics(String(await client.request({ path: "/metrics" })));
    return { at: loop.elapsed(), passes: sumOf(samples, PASSES), drift: sumOf(samples, DRIFT) };
  } catch {
    return undefined;
  }
}

function sumOf(samples: readonly Sample[], wanted: string): number | undefined {
  const values = samples.filter(({ name }) => name === wanted).map(({ value }) => value);
  if (values.length === 0) return undefined;
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}

function meterOf(before: Totals | undefined, { at, passes, drift }: Totals): Meter {
  const isRate = before?.passes !== undefined && passes !== undefined && at > before.at;
  return {
    passesPerSecond: isRate ? Math.max(0, ((passes - before.passes) * 1000) / (at - before.at)) : undefined,
    notConverged: drift,
  };
}
