/** A whole cluster in this process with its own folder and sockets, to inspect its files and logs. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import type { Log, LogFields } from "../../src/base/log/log.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { runCluster } from "../../src/cluster/cluster.ts";
import { ComponentLogs } from "../../src/cluster/logs/component-logs.ts";
import type { ClusterOptions } from "../../src/cluster/options.ts";

/** Loosely typed, because tests read whatever they expect. */
export interface Found {
  readonly [field: string]: Found;
}

export interface Answered {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
  readonly body: Found;
}

export interface Asking {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sends no client certificate. */
  readonly isNobody?: boolean;
}

export class Folder {
  readonly path = mkdtempSync(join(tmpdir(), "setpoint-running-"));

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

export class RunningCluster implements AsyncDisposable {
  readonly dataDir: string;
  readonly server: string;
  readonly kubeconfig: string;
  /** All log records, at every level. */
  readonly logged: readonly string[];
  /** Reuses connections of the same identity: a handshake costs more than most requests. */
  readonly #agent = new Agent({ keepAlive: true });
  readonly #ending: AbortController;
  readonly #running: Promise<void>;

  private constructor(place: Place, { ending, running, logged }: Start) {
    this.dataDir = place.dataDir;
    this.server = place.server;
    this.kubeconfig = place.kubeconfig;
    this.logged = logged;
    this.#ending = ending;
    this.#running = running;
  }

  static async start(folder: Folder, options: Partial<ClusterOptions> = {}): Promise<RunningCluster> {
    const dataDir = join(folder.path, "data");
    const ending = new AbortController();
    const logged: string[] = [];
    return await new Promise((resolve, reject) => {
      const loop = createRealLoop({ name: "running" });
      const log = capturing(logged);
      const running = runCluster(
        { ...DEFAULTS, dataDir, pkiDir: join(dataDir, "pki"), ...options },
        {
          loop,
          log,
          logs: new ComponentLogs({ dataDir, level: "info", fallback: log, loop }),
          signal: ending.signal,
          report: (event) => {
            if (event.event === "ready") resolve(new RunningCluster(event, { ending, running, logged }));
          },
        },
      );
      running.catch(reject);
    });
  }

  ask(method: string, path: string, { body, headers, isNobody = false }: Asking = {}): Promise<Answered> {
    const pem = (name: string): Buffer => readFileSync(join(this.dataDir, "pki", name));
    const identity = isNobody ? {} : { cert: pem("admin.crt"), key: pem("admin.key") };
    const options = {
      method,
      ca: pem("ca.crt"),
      ...identity,
      agent: this.#agent,
      headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    };
    return new Promise((resolve, reject) => {
      const sent = request(new URL(path, this.server), options, (response) => {
        const pieces: Buffer[] = [];
        response.on("data", (piece: Buffer) => pieces.push(piece));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(pieces).toString();
          resolve({ code: response.statusCode ?? 0, headers: response.headers, text, body: bodyOf(text) });
        });
      });
      sent.on("error", reject);
      sent.end(body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body));
    });
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#running;
    this.#agent.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** JSON value of a text; empty if it is not one value, for example the lines of a watch. */
function bodyOf(text: string): Found {
  try {
    return JSON.parse(text) as Found;
  } catch {
    return {};
  }
}

interface Place {
  readonly dataDir: string;
  readonly server: string;
  readonly kubeconfig: string;
}

interface Start {
  readonly ending: AbortController;
  readonly running: Promise<void>;
  readonly logged: readonly string[];
}

const DEFAULTS: Omit<ClusterOptions, "dataDir" | "pkiDir"> = {
  store: { type: "file" },
  listen: { host: "127.0.0.1", port: 0 },
  restoreFile: undefined,
  kubeconfigFile: undefined,
  runtimeConfig: {},
  serviceCidrs: ["10.96.0.0/12"],
  nodePorts: { first: 30_000, last: 32_767 },
  podCidrs: ["10.128.0.0/9"],
  loops: "none",
  nodes: 0,
};

function capturing(lines: string[], always: LogFields = {}): Log {
  const take = (message: string, fields: LogFields = {}): void => {
    lines.push(inspect([message, { ...always, ...fields }], { depth: 12, maxStringLength: Infinity }));
  };
  const more = (fields: LogFields): Log => capturing(lines, { ...always, ...fields });
  return { debug: take, info: take, warn: take, error: take, with: more };
}
