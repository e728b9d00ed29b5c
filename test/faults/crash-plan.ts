/**
 * Writes of the crash test. Every step is a function of seed, writer and number, so that a check after a crash knows the expected content.
 */
import type { Random } from "../../src/base/loop/loop.ts";
import { hash32, seededRandom } from "../../src/base/loop/random.ts";
import type { Change } from "../../src/store/store.ts";

export const WRITERS = 4;
export const CRASH_ROOT = "/registry/crash/";
const KEYS_PER_WRITER = 6;
const LONG_TTL_MS = 3_600_000;
/** Expires while the test runs, or while no process has the store open. */
const SHORT_TTL_MS = 1000;

/** Key that every step of the writer updates with the step's number. */
export function stepKey(writer: number): string {
  return `${CRASH_ROOT}${writer}/step`;
}

/** Key that may expire at any time. */
function shortKey(writer: number): string {
  return `${CRASH_ROOT}${writer}/short`;
}

/** Changes of one step: the step key, then one to four others. */
export function stepChanges(plan: { seed: number; writer: number; step: number }): Change[] {
  const { seed, writer, step } = plan;
  const random = seededRandom("crash", seed, writer, step);
  const numbers = new Set(Array.from({ length: 1 + random.below(4) }, () => random.below(KEYS_PER_WRITER)));
  const changes: Change[] = [{ type: "put", key: stepKey(writer), value: Buffer.from(`${step}`) }];
  for (const number of numbers) changes.push(change(`${CRASH_ROOT}${writer}/${number}`, step, random));
  if (step % 20 === 0)
    changes.push({
      type: "put",
      key: shortKey(writer),
      value: pattern("short", step, 10),
      ttlMs: SHORT_TTL_MS,
    });
  return changes;
}

function change(key: string, step: number, random: Random): Change {
  const kind = random.below(10);
  if (kind < 2) return { type: "delete", key };
  const size = kind === 9 ? 20_000 + random.below(80_000) : random.below(2000);
  const value = pattern(key, step, size);
  return kind === 8 ? { type: "put", key, value, ttlMs: LONG_TTL_MS } : { type: "put", key, value };
}

/** Names key and step, then repeats a number made from both: a partial or mixed value never equals another value. */
function pattern(key: string, step: number, size: number): Uint8Array {
  const head = `${key} ${step} `;
  const unit = hash32(head).toString(16).padStart(8, "0");
  return Buffer.from(head + unit.repeat(Math.ceil(size / unit.length) + 1));
}
