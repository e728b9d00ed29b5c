// @ts-check
/**
 * The thread that owns the files of a store, so that no sync ever blocks the main thread. One request after the other.
 * Plain JavaScript, because Node.js 20 cannot run TypeScript and tests run from source.
 */
import { workerData } from "node:worker_threads";
import { ChannelEnd } from "./channel.js";
import { BackupWriter, copyStore, restoreStore } from "./disk/backup-file.js";
import { DiskStore } from "./disk/disk-store.js";
import { faultCode, messageOf, ofBackup, StoreFault, systemPart } from "./disk/fault.js";
import { loadStore } from "./disk/load.js";

/** @typedef {import("./protocol.ts").Request} Request */
/** @typedef {import("./protocol.ts").Results} Results */

/** @typedef {import("./protocol.ts").Reply} Reply */

/** @type {ChannelEnd<Reply, Request>} */
const channel = new ChannelEnd(/** @type {import("./channel.js").EndParts} */ (workerData));

/**
 * How often the thread looks for the next request after a commit before it sleeps, about 100 µs long. To wake it takes
 * 30 to 50 µs, of the one who waits and of the processor: a round trip took 49 µs with the thread asleep, 16 with it awake.
 */
const AWAKE_LOOKS = 10_000;
/** Then the event loop of the thread has its turn: it frees what the database binding no longer needs. */
const AWAKE_REQUESTS = 256;
/** Many writers at once make commits of this size. So many of them, about, tell whether they wait for this thread all the time. */
const LARGE_COMMIT_BYTES = 16 << 10;
const HURRY_COMMITS = 16;

/** @type {DiskStore | undefined} */
let store;
/** @type {BackupWriter | undefined} */
let backup;
/** The share of large commits behind which the next request came without a pause, among the latest. */
let hurry = 0;
let isLarge = false;

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
  readBackup: ({ file }) => headOf(ofBackup(file, () => loadStore(file, sendRows))),
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
  isLarge = request.type === "commit" && request.records.byteLength >= LARGE_COMMIT_BYTES;
  const handler = /** @type {(request: Request) => Results[Request["type"]]} */ (HANDLERS[request.type]);
  try {
    const result = handler(request);
    channel.post({ type: "done", result }, transferable(result));
  } catch (error) {
    channel.post({
      type: "failed",
      code: faultCode(error),
      message: messageOf(error),
      system: systemPart(error),
    });
  }
  // Now that the answer is on its way.
  if (request.type === "commit" || request.type === "compact") store?.tidy(request.elapsedMs, hurry > 1 / 2);
}

/** Whoever writes without pause finds this thread awake. */
function serveWhatFollows() {
  for (let served = 0; served < AWAKE_REQUESTS; served += 1) {
    const request = lookOut();
    if (request === undefined) {
      hurry -= hurry / HURRY_COMMITS;
      return;
    }
    hurry += (Number(isLarge) - hurry) / HURRY_COMMITS;
    serve(request);
  }
}

/** The next request, when it comes soon. By itself, so that little is compiled for what is called so often. */
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
