/** /healthz, /livez and /readyz, with named checks. They answer everybody and tell nobody more than that. */
import type { Exchange, Site } from "./exchange.ts";
import type { HttpResponse } from "./http.ts";

export interface HealthCheck {
  readonly name: string;
  /** Undefined when all is well, else one line for people. */
  readonly check: () => string | undefined;
}

export interface HealthChecks {
  readonly livez: readonly HealthCheck[];
  readonly readyz: readonly HealthCheck[];
}

interface Outcome {
  readonly name: string;
  readonly problem: string | undefined;
  readonly isExcluded: boolean;
}

export function healthSite({ livez, readyz }: HealthChecks): Site {
  const checks = new Map([
    ["healthz", livez],
    ["livez", livez],
    ["readyz", readyz],
  ]);
  return (exchange) => {
    const [, endpoint = "", ...parts] = exchange.path.split("/");
    const own = checks.get(endpoint);
    if (own === undefined) return undefined;
    // Names of checks may have slashes.
    const name = parts.join("/");
    if (name === "") return Promise.resolve(all(endpoint, own, exchange));
    const one = own.find((check) => check.name === name);
    return one === undefined ? undefined : Promise.resolve(all(`${endpoint}/${name}`, [one], exchange));
  };
}

function all(endpoint: string, checks: readonly HealthCheck[], { query }: Exchange): HttpResponse {
  const excluded = new Set(query.getAll("exclude"));
  const outcomes = checks.map(({ name, check }) => ({
    name,
    isExcluded: excluded.has(name),
    problem: check(),
  }));
  const isGood = outcomes.every(({ problem, isExcluded }) => isExcluded || problem === undefined);
  if (isGood && !query.has("verbose")) return text(200, "ok");
  const lines = outcomes.map(lineOf);
  const last = `${endpoint} check ${isGood ? "passed" : "failed"}`;
  return text(isGood ? 200 : 500, `${[...lines, last].join("\n")}\n`);
}

function lineOf({ name, problem, isExcluded }: Outcome): string {
  if (isExcluded) return `[+]${name} excluded: ok`;
  return problem === undefined ? `[+]${name} ok` : `[-]${name} failed: ${problem}`;
}

function text(status: number, body: string): HttpResponse {
  const headers = new Map([
    ["content-type", "text/plain; charset=utf-8"],
    ["x-content-type-options", "nosniff"],
  ]);
  return { status, headers, body: Buffer.from(body) };
}
