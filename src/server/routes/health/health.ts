/**
 * /healthz, /livez and /readyz with named checks. Every caller may read the outcome. The reason for a failure is at the check's own
 * path, for authorized users.
 */
import type { Exchange, Route } from "../../request/exchange.ts";
import type { HttpResponse } from "../../request/http.ts";
import type { HealthRecord } from "./health-record.ts";

export interface HealthCheck {
  readonly name: string;
  /** Undefined when healthy, else a one-line problem. */
  readonly check: () => string | undefined;
  /** An alarm is listed only while raised and does not fail the endpoint: repairs need a running server. */
  readonly isAlarm?: boolean;
}

export interface HealthChecks {
  readonly healthz: readonly HealthCheck[];
  readonly livez: readonly HealthCheck[];
  readonly readyz: readonly HealthCheck[];
}

export function healthRoute({ healthz, livez, readyz }: HealthChecks, record: HealthRecord): Route {
  const checks = new Map([
    ["healthz", healthz],
    ["livez", livez],
    ["readyz", readyz],
  ]);
  return (exchange) => {
    const [, endpoint = "", ...parts] = exchange.info.path.split("/");
    const own = checks.get(endpoint);
    if (own === undefined) return undefined;
    // Names of checks may contain slashes.
    const name = parts.join("/");
    if (parts.length === 0) return Promise.resolve(all(endpoint, { checks: own, record }, exchange));
    const only = own.find((check) => check.name === name);
    return only === undefined ? undefined : Promise.resolve(one(only));
  };
}

interface Recorded {
  readonly checks: readonly HealthCheck[];
  readonly record: HealthRecord;
}

function all(endpoint: string, { checks, record }: Recorded, { query }: Exchange): HttpResponse {
  const excluded = new Set(query.getAll("exclude"));
  const outcomes = checks.flatMap(({ name, check, isAlarm = false }) => {
    if (excluded.delete(name)) return [{ isGood: true, line: `[+]${name} excluded: ok` }];
    const hasProblem = check() !== undefined;
    if (isAlarm) return hasProblem ? [{ isGood: true, line: `[!]${name} alarm: reason withheld` }] : [];
    record.note({ name, type: endpoint }, hasProblem ? "error" : "success");
    const line = hasProblem ? `[-]${name} failed: reason withheld` : `[+]${name} ok`;
    return [{ isGood: !hasProblem, line }];
  });
  const isGood = outcomes.every((outcome) => outcome.isGood);
  if (isGood && !query.has("verbose")) return text(200, "ok");
  const lines = [
    ...outcomes.map(({ line }) => line),
    ...(excluded.size === 0 ? [] : [warning(excluded)]),
    `${endpoint} check ${isGood ? "passed" : "failed"}`,
  ];
  return text(isGood ? 200 : 500, `${lines.join("\n")}\n`);
}

function warning(unknown: ReadonlySet<string>): string {
  const names = [...unknown].toSorted().map((name) => JSON.stringify(name));
  return `warn: some health checks cannot be excluded: no matches for ${names.join(",")}`;
}

function one({ check }: HealthCheck): HttpResponse {
  const problem = check();
  return problem === undefined ? text(200, "ok") : text(500, `internal server error: ${problem}\n`);
}

function text(status: number, body: string): HttpResponse {
  const headers = new Map([
    ["content-type", "text/plain; charset=utf-8"],
    ["x-content-type-options", "nosniff"],
  ]);
  return { status, headers, body: Buffer.from(body) };
}
