/** Orders API versions by preference. */

const VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/;
const MATURITY: Readonly<Record<string, number>> = { alpha: 1, beta: 2, "": 3 };

/**
 * Positive if `left` is preferred, otherwise negative. Stable is preferred to beta, beta to alpha, and higher numbers
 * to lower ones. Other names are least preferred; among them, the first in alphabetical order wins.
 */
export function compareVersions(left: string, right: string): number {
  const [first, second] = [rankOf(left), rankOf(right)];
  for (const at of [0, 1, 2] as const) if (first[at] !== second[at]) return first[at] - second[at];
  return left < right ? 1 : -1;
}

function rankOf(version: string): readonly [number, number, number] {
  const parts = VERSION.exec(version);
  if (parts === null) return [0, 0, 0];
  const [, major = "0", maturity = "", minor = "0"] = parts;
  return [MATURITY[maturity] ?? 0, Number(major), Number(minor)];
}
