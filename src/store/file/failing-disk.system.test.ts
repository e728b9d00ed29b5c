/**
 * Failing disks: the kernel may have dropped pages that it could not sync, and an unreadable page of the log must not
 * be copied.
 */
import { spawnSync } from "node:child_process";
import { afterAll, expect, test } from "vitest";
import { contents, makeDir, open, openRequest, put, removeDirs, Writer } from "./fixture.ts";
import { encodeCommits } from "./row.ts";
import type { Reply, Request } from "./thread-protocol.ts";

afterAll(removeDirs);

test("a failed fdatasync ends the store with a clear message and is never tried again", async () => {
  const dir = makeDir();
  const writer = new Writer();
  const [first, second] = [commitOf(writer, "/a"), commitOf(writer, "/b")];

  // Opening and the first commit sync once each, so the third sync is the second commit's. That commit is sent twice.
  const { replies, syncsAfterFailure } = askWithFailingSync([openRequest(dir), first, second, second], 3);

  expect(replies.map(({ type }) => type)).toEqual(["done", "done", "failed", "failed"]);
  for (const reply of replies.slice(2)) {
    expect(reply).toMatchObject({ type: "failed", code: "OutcomeUnknown" });
    expect(reply).toHaveProperty(
      "message",
      expect.stringMatching(/store\.db-wal: the disk failed .*EIO.*the process must end/),
    );
  }
  expect(syncsAfterFailure).toBe(0);
  const { backend, rows } = await open(dir);
  expect(contents(rows).get("/a")).toBe("/a");
  await backend.close();
});

test("a log that cannot be read is not copied into the database, and has everything at the next start", async () => {
  const dir = makeDir();
  const writer = new Writer();
  const commits = Array.from({ length: 8 }, (_, at) =>
    commitOf(writer, `/${String(at)}`, "x".repeat(1 << 20)),
  );

  const { replies } = ask([openRequest(dir), ...commits], failingRead());

  const failed = replies.findIndex(({ type }) => type === "failed");
  expect(replies[failed]).toHaveProperty(
    "message",
    expect.stringMatching(/store\.db-wal: the disk failed .*EIO/),
  );
  const { backend, rows } = await open(dir);
  const found = contents(rows);
  await backend.close();
  const acknowledged = Array.from({ length: failed - 1 }, (_, at) => `/${String(at)}`);
  expect(acknowledged.length).toBeGreaterThan(2);
  expect(acknowledged.filter((key) => found.get(key)?.length !== 1 << 20)).toEqual([]);
});

function commitOf(writer: Writer, key: string, value = key): Request {
  return { type: "commit", records: encodeCommits([writer.next(put(key, value))]), elapsedMs: 0 };
}

interface Outcome {
  readonly replies: readonly Reply[];
  readonly syncsAfterFailure: number;
}

/** Makes one fdatasync of the worker fail, the `failing`th call. */
function askWithFailingSync(requests: readonly Request[], failing: number): Outcome {
  return ask(requests, workerScript(failing));
}

/** Sends requests to a worker in its own process, and then kills it. */
function ask(requests: readonly Request[], worker: string): Outcome {
  const messages = requests.map((request) =>
    "records" in request ? { ...request, records: Buffer.from(request.records).toString("base64") } : request,
  );
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module"], {
    encoding: "utf8",
    input: parentScript(messages, worker),
    maxBuffer: 64 << 20,
  });
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as Outcome;
}

/** Makes frames of the log unreadable; they begin behind its header. */
function failingRead(): string {
  return `
    import fs from "node:fs";
    import { syncBuiltinESMExports } from "node:module";
    import ${JSON.stringify(new URL("./worker.js", import.meta.url).href)};
    const { readSync } = fs;
    fs.readSync = (...args) => {
      if (args[4] === 32) throw Object.assign(new Error("EIO: i/o error, read"), { code: "EIO" });
      return readSync(...args);
    };
    syncBuiltinESMExports();`;
}

/** Replaces the sync of the real worker before its first request. */
function workerScript(failing: number): string {
  return `
    import fs from "node:fs";
    import { syncBuiltinESMExports } from "node:module";
    import { workerData } from "node:worker_threads";
    import ${JSON.stringify(new URL("./worker.js", import.meta.url).href)};
    const { fdatasyncSync } = fs;
    let calls = 0;
    fs.fdatasyncSync = (fd) => {
      calls += 1;
      if (calls > ${String(failing)}) Atomics.add(workerData.syncsAfterFailure, 0, 1);
      if (calls === ${String(failing)}) throw Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" });
      fdatasyncSync(fd);
    };
    syncBuiltinESMExports();`;
}

function parentScript(messages: readonly unknown[], worker: string): string {
  return `
    import { writeSync } from "node:fs";
    import { Worker } from "node:worker_threads";
    import { ChannelEnd, createChannel } from ${JSON.stringify(new URL("./channel.js", import.meta.url).href)};
    const [ours, theirs] = createChannel();
    const channel = new ChannelEnd(ours);
    const syncsAfterFailure = new Int32Array(new SharedArrayBuffer(4));
    const url = new URL("data:text/javascript," + encodeURIComponent(${JSON.stringify(worker)}));
    const workerData = { ...theirs, syncsAfterFailure };
    new Worker(url, { workerData, transferList: [theirs.port], execArgv: [] });
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
      writeSync(1, JSON.stringify({ replies, syncsAfterFailure: syncsAfterFailure[0] }));
      process.kill(process.pid, "SIGKILL");
    });
    ask();`;
}
