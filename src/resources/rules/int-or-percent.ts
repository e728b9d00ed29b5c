/** Numbers that may be percentages: `maxSurge: 25%`. */

/**
 * Rounds a percentage of `total` to an integer. An invalid value gives zero: validation refuses it before.
 */
export function scaledValue(
  value: number | string | undefined,
  total: number,
  rounding: "up" | "down",
): number {
  if (typeof value === "number") return value;
  const percent = /^(\d+)%$/.exec(value ?? "")?.[1];
  if (percent === undefined) return 0;
  const exact = (Number(percent) * total) / 100;
  return rounding === "up" ? Math.ceil(exact) : Math.floor(exact);
}
