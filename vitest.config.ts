import { defineConfig } from "vitest/config";

/**
 * `unit` is what `npm run check` runs: no sockets, no child processes, seconds in total.
 * `system` starts real engines, servers and processes, and gets more time.
 */
export default defineConfig({
  // Node.js 20 has no `await using`; the transform must write it out.
  oxc: { target: "node20" },
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
