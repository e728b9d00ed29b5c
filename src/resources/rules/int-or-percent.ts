/** Numbers that may be given as a part of another: `maxSurge: 25%`. */

/** Of `total`, in whole ones. What is no number counts as none: validation has refused it before. */
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
