// @ts-check
/**
 * The thread that owns the files of a store, so that no sync blocks the main thread. It serves one request at a time.
 * Plain JavaScript, because Node.js 20 cannot run TypeScript and tests run from source.
 */
import { workerData } from "node:worker_threads";
import { ChannelEnd } from "./channel.js";
import { BackupWriter, copyStore, restoreStore } from "./disk/backup-file.js";
import { DiskStore } from "./disk/disk-store.js";
import { faultCode, messageOf, asBackupFault, StoreFault, systemErrorOf } from "./disk/fault.js";
import { loadStore } from "./disk/load.js";

/** @typedef {import("./thread-protocol.ts").Request} Request */
/** @typedef {import("./thread-protocol.ts").Results} Results */

/** @typedef {import("./thread-protocol.ts").Reply} Reply */

/** @type {ChannelEnd<Reply, Request>} */
const channel = new ChannelEnd(/** @type {import("./channel.js").EndParts} */ (workerData));

/**
 * Number of polls for the next request after a commit before the thread sleeps, about 100 µs. Waking takes 30 to 50 µs
 * of latency and CPU: a round trip took 49 µs with the thread asleep, 16 with it awake.
 */
const AWAKE_LOOKS = 10_000;
/**
 * Then the thread's event loop runs: it frees memory that the database binding no longer needs, and notices the end of
 * a copy of the write-ahead log.
 */
const AWAKE_REQUESTS = 32;

/** @type {DiskStore | undefined} */
let store;
/** @type {BackupWriter | undefined} */
let backup;

/**
 * @typedef {{ readonly [T in Request["type"]]: (request: Extract<Request, { type: T }>) => Results[T] | Promise<Results[T]> }} Handlers
 */

/** @type {Handlers} */
const HANDLERS = {
  open(request) {
    store = new DiskStore(request, sendRows);
    return store.opened;
  },
  commit({ records }) {
    openStore().commit(Buffer.from(records));
  },
  compact: ({ revision }) => openStore().compact(revision),
  read: ({ after, upTo }) => openStore().read(after, upTo),
  async close() {
    const closed = openStore();
    store = undefined;
    await closed.close();
    return undefined;
  },
  backup: ({ dir, file }) => copyStore(dir, file),
  restore: ({ file, dir }) => restoreStore(file, dir),
  readBackup: ({ file }) => headOf(asBackupFault(file, () => loadStore(file, sendRows))),
  createBackup(request) {
    backup = new BackupWriter(request);
  },
  addToBackup({ records }) {
    backup?.add(Buffer.from(records));
  },
  finishBackup() {
    backup?.finish();
  },
};

channel.onMessage((request) => {
  serve(request);
  if (request.type === "commit") serveWhatFollows();
});

/** @param {Request} request */
function serve(request) {
  const handler =
    /** @type {(request: Request) => Results[Request["type"]] | Promise<Results[Request["type"]]>} */ (
      HANDLERS[request.type]
    );
  try {
    const result = handler(request);
    if (result instanceof Promise) result.then(answer, refuse);
    else answer(result);
  } catch (error) {
    refuse(error);
  }
  // Runs after the response was sent.
  if (request.type === "commit" || request.type === "compact") store?.tidy(request.elapsedMs);
}

/** @param {Results[Request["type"]]} result */
function answer(result) {
  channel.post({ type: "done", result }, transferable(result));
}

/** @param {unknown} error */
function refuse(error) {
  channel.post({
    type: "failed",
    code: faultCode(error),
    message: messageOf(error),
    system: systemErrorOf(error),
  });
}

/** Writers without pauses find this thread awake. */
function serveWhatFollows() {
  for (let served = 0; served < AWAKE_REQUESTS; served += 1) {
    const request = lookOut();
    if (request === undefined) return;
    serve(request);
  }
}

/** Polls for the next request. A separate function, so that little is compiled for a hot path. */
function lookOut() {
  for (let looks = 0; looks < AWAKE_LOOKS; looks += 1) {
    const request = channel.next();
    if (request !== undefined) return request;
  }
  return undefined;
}

/** @param {Buffer} slab */
function sendRows(slab) {
  channel.post({ type: "rows", slab }, [/** @type {ArrayBuffer} */ (slab.buffer)]);
}

function openStore() {
  if (store === undefined) throw new StoreFault("Closed", "the store is closed");
  return store;
}

/** @param {ReturnType<typeof loadStore>} loaded */
function headOf({ meta, head }) {
  return { clusterId: meta.clusterId, compactedRevision: meta.floor, revision: head.revision };
}

/** @param {Results[Request["type"]]} result */
function transferable(result) {
  if (typeof result !== "object" || !("rows" in result)) return [];
  return [
    /** @type {ArrayBuffer} */ (result.rows.buffer),
    /** @type {ArrayBuffer} */ (result.superseded.buffer),
  ];
}
