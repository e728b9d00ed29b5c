import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { defineConfig, type Plugin } from "vitest/config";

/**
 * `unit` is what `npm run check` runs: no sockets, no child processes, seconds in total.
 * `system` starts real engines, servers and processes, and gets more time.
 */
export default defineConfig({
  // Node.js 20 has no `await using`; the transform must write it out.
  oxc: { target: "node20" },
  plugins: [bundledStoreThread()],
  // `setpoint/…` means src/, so that no test depends on a build being fresh.
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    // Isolation costs a fresh module graph per file: minutes instead of seconds. Modules keep no state anyway.
    isolate: false,
    // Processes, because the file store starts worker threads and tests send signals.
    pool: "forks",
    // One more than the smallest machine that the time limit is meant for has cores: some tests wait for disks and processes.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: { name: "unit", include: ["src/**/*.test.ts", "test/*.test.ts"] },
      },
      {
        extends: true,
        test: {
          name: "system",
          include: ["test/{conformance,faults,scenarios}/**/*.test.ts", "examples/*/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});

/**
 * The file store's thread as one script, as the build makes it for the program. Hundreds of stores are opened here, and a thread that
 * loads twenty modules takes twice as long to start.
 */
function bundledStoreThread(): Plugin {
  let bundle: Promise<string> | undefined;
  return {
    name: "bundled-store-thread",
    async transform(code, id) {
      if (!id.endsWith("/src/store/file/store-thread.ts")) return undefined;
      const path = await (bundle ??= writeStoreThread());
      return { code: code.replace('"./worker.js"', JSON.stringify(path)), map: null };
    },
  };
}

async function writeStoreThread(): Promise<string> {
  const folder = fileURLToPath(new URL(".cache/test/", import.meta.url));
  const { output } = await build({
    input: fileURLToPath(new URL("src/store/file/worker.js", import.meta.url)),
    platform: "node",
    external: (id) => !id.startsWith(".") && !isAbsolute(id),
    output: { format: "cjs", codeSplitting: false },
    write: false,
  });
  mkdirSync(folder, { recursive: true });
  // Renamed, for another run of tests may be reading the one that is there.
  const path = `${folder}worker.cjs`;
  const fresh = `${path}.${String(process.pid)}`;
  writeFileSync(fresh, output[0].code);
  renameSync(fresh, path);
  return path;
}
