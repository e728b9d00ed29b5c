/** One process has a data directory at a time, and a second process gets an error that names the first. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { openFileStore } from "../../src/store/file-store.ts";
import { isStoreError } from "../../src/store/store-error.ts";
import { bundleCrashWriter, CrashChild } from "./crash-child.ts";

const loop = createRealLoop({ name: "second-process" });
let folder = "";
let program = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "setpoint-second-"));
  program = await bundleCrashWriter(folder);
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe("a data directory that is in use", () => {
  test("is refused to another process, which is told the pid of the first, until that one is gone", async () => {
    const dir = join(folder, "theirs");
    const child = await startWriting(dir);

    const refusal: unknown = await openFileStore({ dir, loop }).catch((error: unknown) => error);
    child.kill();
    await child.killed;
    const store = await openFileStore({ dir, loop });
    await store.close();

    expect(isStoreError(refusal, "Locked")).toBe(true);
    expect(String(refusal)).toContain(`process ${child.pid}`);
  });

  test("is refused to the same process", async () => {
    const dir = join(folder, "ours");
    const first = await openFileStore({ dir, loop });

    const refusal: unknown = await openFileStore({ dir, loop }).catch((error: unknown) => error);
    const { revision } = await first.write({
      changes: [{ type: "put", key: "/registry/a", value: Buffer.from("1") }],
    });
    await first.close();

    expect(isStoreError(refusal, "Locked")).toBe(true);
    expect(String(refusal)).toContain(`${process.pid}`);
    expect(revision).toBeGreaterThan(0);
  });
});

/** Resolves once the child has opened its store. */
async function startWriting(dir: string): Promise<CrashChild> {
  return await new Promise((resolve, reject) => {
    const child: CrashChild = new CrashChild([program, dir, "1"], (line) => {
      if (line.startsWith("a ")) resolve(child);
    });
    child.killed.catch(reject);
  });
}
