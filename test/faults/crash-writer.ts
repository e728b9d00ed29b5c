/**
 * Child of the crash test: `crash-writer DIR SEED` opens the store and writes without pause until it is killed. It prints `o REVISION` when
 * open, `a WRITER STEP REVISION` when acknowledged, and `c REVISION` before a compaction.
 */
import { writeSync } from "node:fs";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { openFileStore } from "../../src/store/file-store.ts";
import type { Store } from "../../src/store/store.ts";
import { stepChanges, stepKey, WRITERS } from "./crash-plan.ts";

/** Often enough that many kills hit a compaction. */
const COMPACT_EVERY_STEPS = 25;
const KEPT_REVISIONS = 60;

/** Prints at once: only a printed write counts as acknowledged. */
function tell(line: string): void {
  for (let rest = Buffer.from(`${line}\n`); rest.length > 0;) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      // The pipe is full: its reader is slower than the disk.
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    }
  }
}

async function writeForEver(store: Store, seed: number, writer: number): Promise<never> {
  const key = stepKey(writer);
  const last = store.view.get(key);
  let modRevision = last?.modRevision ?? 0;
  for (let step = last === undefined ? 1 : Number(Buffer.from(last.value).toString()) + 1; ; step += 1) {
    const changes = stepChanges({ seed, writer, step });
    const { revision } = await store.write({ compare: [{ key, modRevision }], changes });
    tell(`a ${writer} ${step} ${revision}`);
    modRevision = revision;
    if (writer === 0 && step % COMPACT_EVERY_STEPS === 0) await compact(store);
  }
}

async function compact(store: Store): Promise<void> {
  const revision = Math.max(1, store.view.revision - KEPT_REVISIONS);
  tell(`c ${revision}`);
  await store.compact(revision);
}

const [dir = "", seed = ""] = process.argv.slice(2);
const store = await openFileStore({ dir, loop: createRealLoop({ name: "crash-writer" }) });
tell(`o ${store.view.revision}`);
await Promise.all(Array.from({ length: WRITERS }, (_, writer) => writeForEver(store, Number(seed), writer)));
