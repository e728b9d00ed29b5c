import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { openFileStore } from "../../src/store/file-store.ts";

const KEYS = 100;
const UPDATES = 40_000;
const VALUE_BYTES = 1024;
const WINDOW_BYTES = 4 << 20;

/** `npm run bench -- --only store-size` does the same with 500,000 updates and the default window. */
test("updates of the same keys leave files that are bounded by the window, and every newest value", async () => {
  const dir = mkdtempSync(join(tmpdir(), "setpoint-growth-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const loop = createRealLoop({ name: "test" });
  const store = await openFileStore({ dir, loop, diskHistory: { maxBytes: WINDOW_BYTES } });
  let next = 0;

  await Promise.all(
    Array.from({ length: 64 }, async () => {
      while (next < UPDATES) {
        const n = next++;
        const value = Buffer.alloc(VALUE_BYTES, `${String(n)} `);
        await store.write({
          changes: [{ type: "put", key: `/registry/pods/default/${String(n % KEYS)}`, value }],
        });
      }
    }),
  );
  await store.close();

  let bytes = 0;
  for (const name of readdirSync(dir)) bytes += statSync(join(dir, name)).size;
  expect(bytes).toBeLessThan(8 * WINDOW_BYTES);
  const again = await openFileStore({ dir, loop });
  expect(again.view.count("/registry/", "/registry0")).toBe(KEYS);
  expect(again.view.revision).toBe(1 + UPDATES);
  await again.close();
});
