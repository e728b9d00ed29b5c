/** Fixtures for the tests of this folder: a store in its own directory, and a writer that remembers acknowledged writes. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "../../base/log/log.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import type { Commit } from "../commit.ts";
import { State, StateEditor } from "../state.ts";
import type { Change, Entry } from "../store.ts";
import { advance } from "../transaction.ts";
import { openFileBackend } from "./file-backend.ts";
import type { OpenedFileBackend } from "./file-backend.ts";
import { entryOf } from "./row.ts";
import type { LoadedRow } from "./row.ts";
import type { Reply, Request } from "./thread-protocol.ts";

export const loop = createRealLoop({ name: "test" });

const made: string[] = [];

export function makeDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "setpoint-file-"));
  made.push(dir);
  return dir;
}

export function removeDirs(): void {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true, force: true });
}

export interface Opened extends OpenedFileBackend {
  readonly rows: readonly LoadedRow[];
}

export async function open(dir: string, options: { maxBytes?: number } = {}): Promise<Opened> {
  const rows: LoadedRow[] = [];
  const opened = await openFileBackend({
    dir,
    loop,
    log: silentLog,
    onRow: (row) => rows.push(row),
    ...options,
  });
  return { ...opened, rows };
}

export function put(key: string, value: string | Uint8Array, ttlMs?: number): Change {
  const bytes = typeof value === "string" ? Buffer.from(value) : value;
  return { type: "put", key, value: bytes, ...(ttlMs === undefined ? {} : { ttlMs }) };
}

export function remove(key: string): Change {
  return { type: "delete", key };
}

/** Makes commits as LocalStore does. */
export class Writer {
  readonly commits: Commit[] = [];
  readonly #accepted: StateEditor;
  #now = 1000;

  constructor(state: State = State.empty()) {
    this.#accepted = new StateEditor(state);
  }

  get state(): State {
    return this.#accepted.state();
  }

  /** The commit of one transaction. */
  next(...changes: Change[]): Commit {
    this.#now += 1;
    const commit = advance(this.#accepted, { changes }, { now: this.#now });
    if (commit === undefined) throw new Error("expected a change");
    this.commits.push(commit);
    return commit;
  }
}

/** Live keys and values as loaded. */
export function contents(rows: readonly LoadedRow[]): Map<string, string> {
  const live = new Map<string, string>();
  for (const { key, value } of rows) {
    if (value === undefined) live.delete(key);
    else live.set(key, Buffer.from(value).toString());
  }
  return live;
}

export function contentsOf(state: State): Map<string, string> {
  const entries = [...state.range("", "\u{ffff}")];
  return new Map(entries.map(({ key, value }) => [key, Buffer.from(value).toString()]));
}

/** State built from loaded rows. */
export function stateOf(rows: readonly LoadedRow[], revision: number): State {
  const live = new Map<string, Entry>();
  for (const row of rows) {
    const entry = entryOf(row);
    if (entry === undefined) live.delete(row.key);
    else live.set(row.key, entry);
  }
  return State.of(revision, live.values());
}

/**
 * Copies the files that a killed process leaves behind. Another process copies them, because closing a file here would
 * drop SQLite's locks.
 */
export function copyDir(dir: string): string {
  const copy = join(makeDir(), "copy");
  execFileSync("cp", ["-r", dir, copy]);
  return copy;
}

export function openRequest(dir: string): Request {
  return { type: "open", dir, newClusterId: "00000000-0000-4000-8000-000000000000", maxBytes: undefined };
}

/** Sends requests in order to a worker in its own process, and then kills it. */
export function askChild(requests: readonly Request[], limits: { maxFileBlocks?: number } = {}): Reply[] {
  const messages = requests.map((request) =>
    "records" in request ? { ...request, records: Buffer.from(request.records).toString("base64") } : request,
  );
  const { stdout, stderr } = spawnSync(
    "sh",
    [
      "-c",
      `trap "" XFSZ; ulimit -f ${String(limits.maxFileBlocks ?? "unlimited")}; exec "$0" --input-type=module`,
      process.execPath,
    ],
    { encoding: "utf8", input: childScript(messages) },
  );
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as Reply[];
}

function childScript(messages: readonly unknown[]): string {
  return `
    import { writeSync } from "node:fs";
    import { Worker } from "node:worker_threads";
    import { ChannelEnd, createChannel } from ${JSON.stringify(new URL("./channel.js", import.meta.url).href)};
    const [ours, theirs] = createChannel();
    const channel = new ChannelEnd(ours);
    new Worker(new URL(${JSON.stringify(new URL("./worker.js", import.meta.url).href)}), {
      workerData: theirs,
      transferList: [theirs.port],
      execArgv: [],
    });
    const messages = ${JSON.stringify(messages)};
    const replies = [];
    const ask = () => {
      const message = messages[replies.length];
      const bytes = message.records && new Uint8Array(Buffer.from(message.records, "base64"));
      channel.post(bytes ? { ...message, records: bytes.buffer } : message);
    };
    channel.onMessage((reply) => {
      if (reply.type === "rows") return;
      replies.push(reply);
      if (replies.length < messages.length) return ask();
      writeSync(1, JSON.stringify(replies));
      process.kill(process.pid, "SIGKILL");
    });
    ask();`;
}
