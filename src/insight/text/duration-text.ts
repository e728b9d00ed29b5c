/** Durations and times for people: `12 s`, `4 min`, `1 min 22 s`, `3 h`, `2 d`. */
const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
];

/** The two largest units, the second one only below ten of the first. */
export function durationText(ms: number): string {
  const rest = Math.max(0, Math.round(ms / 1000)) * 1000;
  const at = UNITS.findIndex(([, unit]) => rest >= unit);
  const [name, unit] = UNITS[at] ?? ["s", 1000];
  const count = Math.floor(rest / unit);
  const [lower, lowerUnit] = UNITS[at + 1] ?? ["", 0];
  const lowerCount = at < 0 || lowerUnit === 0 || count >= 10 ? 0 : Math.floor((rest % unit) / lowerUnit);
  const first = `${String(count)} ${name}`;
  return lowerCount === 0 ? first : `${first} ${String(lowerCount)} ${lower}`;
}

/** `14:02:11.204` of a time of the API, in UTC as the API has it. */
export function clockText(time: string | undefined): string {
  const match = /T(\d\d:\d\d:\d\d)(\.\d{1,3})?/.exec(time ?? "");
  return match === null ? "" : `${match[1] ?? ""}${(match[2] ?? ".0").padEnd(4, "0")}`;
}
