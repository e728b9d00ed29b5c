// @ts-check
/**
 * The thread that owns the files of a store, so that no sync ever blocks the main thread. One request after the other.
 * Plain JavaScript, because Node.js 20 cannot run TypeScript and tests run from source.
 */
import { parentPort, receiveMessageOnPort } from "node:worker_threads";
import { BackupWriter, copyStore, restoreStore } from "./disk/backup-file.js";
import { DiskStore } from "./disk/disk-store.js";
import { faultCode, messageOf, StoreFault } from "./disk/fault.js";
import { loadStore } from "./disk/load.js";

/** @typedef {import("./protocol.ts").Request} Request */
/** @typedef {import("./protocol.ts").Results} Results */

if (parentPort === null) throw new Error("worker.js runs as a worker thread only");
const port = parentPort;

/**
 * How often the thread looks for the next request after a small commit before it sleeps, about 200 µs long. To wake it takes
 * 30 to 50 µs, of the one who waits and of the processor: a round trip took 49 µs with the thread asleep, 16 with it awake.
 */
const AWAKE_LOOKS = 3000;
/** Many writers at once make larger batches; then throughput counts, and the processor has better things to do. */
const SMALL_COMMIT_BYTES = 16 << 10;
/** Then the event loop of the thread has its turn: it frees what the database binding no longer needs. */
const AWAKE_REQUESTS = 256;

/** @type {DiskStore | undefined} */
let store;
/** @type {BackupWriter | undefined} */
let backup;

/** @type {{ readonly [T in Request["type"]]: (request: Extract<Request, { type: T }>) => Results[T] }} */
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
  close() {
    openStore().close();
    store = undefined;
  },
  backup: ({ dir, file }) => copyStore(dir, file),
  restore: ({ file, dir }) => restoreStore(file, dir),
  readBackup: ({ file }) => headOf(loadStore(file, sendRows)),
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

port.on("message", (/** @type {Request} */ request) => {
  const isSmall = request.type === "commit" && request.records.byteLength < SMALL_COMMIT_BYTES;
  serve(request);
  if (isSmall) serveWhatFollows();
});

/** @param {Request} request */
function serve(request) {
  const handler = /** @type {(request: Request) => Results[Request["type"]]} */ (HANDLERS[request.type]);
  try {
    const result = handler(request);
    port.postMessage({ type: "done", result }, transferable(result));
  } catch (error) {
    port.postMessage({ type: "failed", code: faultCode(error), message: messageOf(error) });
  }
  // Now that the answer is on its way.
  if (request.type === "commit" || request.type === "compact") store?.tidy(request.elapsedMs);
}

/** Whoever writes without pause finds this thread awake. */
function serveWhatFollows() {
  let served = 0;
  for (let looks = 0; looks < AWAKE_LOOKS && served < AWAKE_REQUESTS; looks += 1) {
    const received = /** @type {{ message: Request } | undefined} */ (receiveMessageOnPort(port));
    if (received === undefined) continue;
    serve(received.message);
    served += 1;
    looks = 0;
  }
}

/** @param {Buffer} slab */
function sendRows(slab) {
  port.postMessage({ type: "rows", slab }, [/** @type {ArrayBuffer} */ (slab.buffer)]);
}

function openStore() {
  if (store === undefined) throw new StoreFault("Closed", "the store is closed");
  return store;
}

/** @param {ReturnType<typeof loadStore>} loaded */
function headOf({ meta, head }) {
  return { clusterId: meta.clusterId, compactedRevision: meta.compacted, revision: head.revision };
}

/** @param {Results[Request["type"]]} result */
function transferable(result) {
  if (typeof result !== "object" || !("rows" in result)) return [];
  return [
    /** @type {ArrayBuffer} */ (result.rows.buffer),
    /** @type {ArrayBuffer} */ (result.superseded.buffer),
  ];
}
