import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { defineConfig, type Plugin } from "vitest/config";
import { foldersOfDead, openTempFolder } from "./scripts/temp-folder.mjs";

const SOURCES = fileURLToPath(new URL("src/", import.meta.url));
const CACHE = fileURLToPath(new URL(".cache/test/", import.meta.url));
/** Texts that the server reads at run time, next to its code. */
const DESCRIPTIONS = "server/routes/openapi/descriptions";
/** Belongs to this run: another run may be in progress. */
const COMPILED = `${CACHE}${String(process.pid)}/`;
let compiled: Promise<void> | undefined;

/**
 * `unit` is what `npm run check` runs: no sockets, processes, stores on disk or clusters (`test/unit-tests.test.ts`), seconds in total.
 * `system` starts real engines, servers and processes, and gets more time.
 */
export default defineConfig({
  // Node.js 20 has no `await using`; the transform must write it out.
  oxc: { target: "node20" },
  plugins: [compiledSources()],
  // `setpoint/…` means src/, so that no test depends on a build being fresh.
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: {
    server: { deps: { external: [/\/\.cache\/test\//] } },
    // Isolation costs a fresh module graph per file: minutes instead of seconds. Modules keep no state anyway.
    isolate: false,
    // Processes, because the file store starts worker threads and tests send signals.
    pool: "forks",
    // One more than the smallest machine that the time limit is meant for has cores: some tests wait for disks and processes.
    maxWorkers: 3,
    // Programs that tests start merge their contexts into the kubeconfig of the home folder.
    env: { HOME: `${CACHE}home`, USERPROFILE: `${CACHE}home`, TMPDIR: openTempFolder() },
    // All bounds of time only end a hang: a condition takes as long as the other programs of the machine let it.
    expect: { poll: { timeout: 45_000, interval: 20 } },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/*.test.ts"],
          exclude: ["**/*.system.test.ts"],
          // A test takes a second at most; the rest is for a machine whose cores others keep busy.
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: "as-user",
          include: ["test/as-user/*.test.ts"],
          // A process that gave up the rights of root cannot run the next file.
          isolate: true,
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: "system",
          include: [
            "src/**/*.system.test.ts",
            "test/{conformance,faults,scenarios}/**/*.test.ts",
            "examples/*/*.test.ts",
          ],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});

/**
 * Compiles the sources once and lets Node.js load them. Otherwise each worker asks the main process for a thousand modules, and looks up every
 * imported name in an object at each use. In watch mode modules are loaded one by one.
 */
function compiledSources(): Plugin {
  let isWatching = false;
  return {
    name: "compiled-sources",
    enforce: "pre",
    configResolved({ server }) {
      isWatching = server.watch !== null;
    },
    async resolveId(id, importer, options) {
      const found = await this.resolve(id, importer, { ...options, skipSelf: true });
      if (found === null || isWatching || !isCompiled(found.id)) return found;
      await (compiled ??= compileSources());
      return COMPILED + found.id.slice(SOURCES.length).replace(/\.ts$/, ".js");
    },
  };
}

/** False for code that only tests use: it finds its files by its own place. */
function isCompiled(path: string): boolean {
  return path.startsWith(SOURCES) && /(?<!\.test|\/fixture|\/worker)\.[jt]s$/.test(path);
}

async function compileSources(): Promise<void> {
  removeLeftovers();
  process.once("exit", () => rmSync(COMPILED, { recursive: true, force: true }));
  const names = readdirSync(SOURCES, { recursive: true, encoding: "utf8" });
  const common = {
    platform: "node",
    external: (id: string) => !id.startsWith(".") && !isAbsolute(id),
    transform: { target: "node20.19" },
  } as const;
  await build({
    ...common,
    input: names.map((name) => SOURCES + name).filter(isCompiled),
    treeshake: false,
    output: {
      dir: COMPILED,
      format: "esm",
      preserveModules: true,
      preserveModulesRoot: SOURCES,
      sourcemap: true,
    },
  });
  cpSync(`${SOURCES}${DESCRIPTIONS}`, `${COMPILED}${DESCRIPTIONS}`, { recursive: true });
  // One script, as in the build: tests open hundreds of stores, and a thread that loads twenty modules takes twice as long to start.
  await build({
    ...common,
    input: `${SOURCES}store/file/worker.js`,
    output: { file: `${COMPILED}store/file/worker.cjs`, format: "cjs", codeSplitting: false },
  });
  const thread = `${COMPILED}store/file/store-thread.js`;
  writeFileSync(thread, readFileSync(thread, "utf8").replace('"./worker.js"', '"./worker.cjs"'));
}

/** Removes the compiled files of killed runs. */
function removeLeftovers(): void {
  mkdirSync(CACHE, { recursive: true });
  for (const name of foldersOfDead(CACHE, "")) rmSync(CACHE + name, { recursive: true, force: true });
}
