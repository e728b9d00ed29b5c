/** A moment of the past as users name it: a revision, a time, or how long ago. */
import { parseDuration } from "../../api/values/time.ts";

export type Moment =
  | { readonly type: "revision"; readonly revision: string }
  /** Milliseconds since the epoch. */
  | { readonly type: "time"; readonly at: number };

/** `1841`, `-5m`, `2026-01-31T12:00:00Z`, `12:00` or `12:00:30` of today in UTC. Throws a SyntaxError. */
export function parseMoment(text: string, now: number): Moment {
  if (/^\d{1,15}$/.test(text)) return { type: "revision", revision: text };
  const at = timeOf(text, now);
  if (at === undefined || Number.isNaN(at))
    throw new SyntaxError(`expected a revision, a time or a duration such as -5m, found "${text}"`);
  return { type: "time", at };
}

function timeOf(text: string, now: number): number | undefined {
  if (/^-?(\d+(\.\d+)?(ms|s|m|h))+$/.test(text))
    return now - Number(parseDuration(text.replace("-", "")) / 1_000_000n);
  const today = new Date(now).toISOString().slice(0, "2026-01-31".length);
  if (/^\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/.test(text)) return Date.parse(`${today}T${text}Z`);
  return /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : undefined;
}
