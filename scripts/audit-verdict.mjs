// Reads the report of `npm audit --json`: apart from the script that asks for it, so that tests can ask about any answer.

/** Severities that must not be shipped. */
const REFUSED = ["high", "critical"];

/**
 * One line for people, and whether the answer stops a release. A registry that gives no report stops nothing.
 * @param {string} text
 * @returns {{ readonly line: string, readonly isRefused: boolean }}
 */
export function verdictOf(text) {
  const report = parsed(text);
  const counts = report?.metadata?.vulnerabilities;
  if (report?.error !== undefined || counts === undefined)
    return {
      line: "the registry gives no audit report: known faults of dependencies were not looked up",
      isRefused: false,
    };
  const names = Object.values(report?.vulnerabilities ?? {})
    .filter(({ severity }) => REFUSED.includes(severity))
    .map(({ name, severity }) => `${name} (${severity})`);
  if (names.length > 0)
    return { line: `refused for known faults in ${names.join(", ")}: see npm audit`, isRefused: true };
  const others = Object.entries(counts).filter(([severity, count]) => severity !== "total" && count > 0);
  const less = others.map(([severity, count]) => `${String(count)} ${severity}`).join(", ");
  return {
    line: `no known fault of high severity in production dependencies${less === "" ? "" : `; ${less}`}`,
    isRefused: false,
  };
}

/**
 * @typedef {object} Report
 * @property {unknown} [error]
 * @property {Record<string, { name: string, severity: string }>} [vulnerabilities]
 * @property {{ vulnerabilities?: Record<string, number> }} [metadata]
 */

/**
 * @param {string} text
 * @returns {Report | undefined}
 */
function parsed(text) {
  try {
    /** @type {unknown} */
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
