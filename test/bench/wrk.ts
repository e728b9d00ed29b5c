/** Load from wrk, a C program: it takes little of the CPU that the server needs, and keeps exact latency percentiles. */
import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export const WRK_HINT = "install wrk (Debian package: wrk)";

export interface WrkRequest {
  readonly port: number;
  readonly token: string;
  readonly method: string;
  /** `%n` in path and body is replaced by the number of the request. */
  readonly path: string;
  /** The number in the path begins anew after so many. */
  readonly objects?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Number of the first request. */
  readonly first: number;
  readonly connections: number;
  readonly seconds: number;
}

export interface WrkFigures {
  readonly answered: number;
  readonly ms: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

interface Summary extends WrkFigures {
  readonly failed: number;
}

export function hasWrk(): boolean {
  return spawnSync("wrk", ["--version"], { stdio: "ignore" }).error === undefined;
}

/** A Lua string literal. */
function quote(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}

/** One thread of wrk runs it, so that the numbers of the requests are unique. */
function scriptOf({ token, method, path, objects, headers = {}, body, first }: WrkRequest): string {
  const fields = { ...headers, authorization: `Bearer ${token}` };
  const lua = Object.entries(fields).map(([name, value]) => `[${quote(name)}] = ${quote(value)}`);
  const number = objects === undefined ? "n" : `n % ${String(objects)}`;
  const content = body === undefined ? "nil" : `(string.gsub(${quote(body)}, "%%n", tostring(n)))`;
  return `
local headers = { ${lua.join(", ")} }
local n = ${String(first)} - 1
function request()
  n = n + 1
  return wrk.format(${quote(method)}, (string.gsub(${quote(path)}, "%%n", tostring(${number}))), headers, ${content})
end
function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format(
    "\\n{\\"answered\\":%d,\\"ms\\":%f,\\"failed\\":%d,\\"p50Ms\\":%f,\\"p99Ms\\":%f,\\"maxMs\\":%f}\\n",
    summary.requests, summary.duration / 1000, failed,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000))
end
`;
}

/** Runs wrk to its end. Rejects when an answer is an error. */
export async function runWrk(folder: string, request: WrkRequest): Promise<WrkFigures> {
  const script = join(
    folder,
    `${String(request.first)}-${request.method}-${String(request.connections)}.lua`,
  );
  writeFileSync(script, scriptOf(request));
  const { connections, seconds, port, method, path } = request;
  const args = ["-t1", `-c${String(connections)}`, `-d${String(seconds)}s`, "--timeout", "20s", "-s", script];
  const child = spawn("wrk", [...args, `https://127.0.0.1:${String(port)}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  for await (const piece of child.stdout) output += String(piece);
  const line = output.split("\n").findLast((each) => each.startsWith("{"));
  if (line === undefined) throw new Error(`wrk printed no figures: ${output}`);
  const { failed, ...figures } = JSON.parse(line) as Summary;
  if (failed > 0) {
    const counts = `${String(failed)} of ${String(figures.answered)} requests failed`;
    throw new Error(`${method} ${path}: ${counts}`);
  }
  return figures;
}
