/** A project that has installed the packed package as npm would ship it. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { foldersOfDead } from "../../scripts/temp-folder.mjs";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const TSC = join(ROOT, "node_modules/typescript/bin/tsc");
/** Configuration for projects that bring no tsconfig. */
const TSCONFIG = {
  compilerOptions: {
    target: "ES2022",
    lib: ["ES2023", "ESNext.Disposable"],
    module: "nodenext",
    types: ["node"],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    rewriteRelativeImportExtensions: true,
    outDir: "dist",
  },
  include: ["*.ts"],
};

export interface Outcome {
  readonly code: number;
  readonly output: string;
}

export class PackageConsumer implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), "setpoint-consumer-"));

  constructor() {
    const modules = join(this.folder, "node_modules");
    mkdirSync(modules);
    symlinkSync(packed(), join(modules, "setpoint"));
    for (const name of [...dependencies(), "@types/node", "vitest"]) {
      mkdirSync(dirname(join(modules, name)), { recursive: true });
      symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
    }
    this.write("package.json", JSON.stringify({ name: "consumer", type: "module" }));
    this.write("tsconfig.json", JSON.stringify(TSCONFIG));
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), text);
  }

  /** Type-checks and compiles the project in this subfolder; the output lists the errors. */
  compile(below = "."): Outcome {
    return this.node([TSC, "-p", "tsconfig.json"], below);
  }

  node(args: readonly string[], below = "."): Outcome {
    const cwd = join(this.folder, below);
    // A test runner started by another one reports to it instead of printing its results.
    const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...env } = process.env;
    try {
      return {
        code: 0,
        output: execFileSync(process.execPath, args, { cwd, env, encoding: "utf8", stdio: "pipe" }),
      };
    } catch (error) {
      const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string };
      return { code: status, output: stdout + stderr };
    }
  }

  /** Runs the package's command-line program. */
  setpoint(args: readonly string[], below = "."): Outcome {
    return this.node([join(this.folder, "node_modules/setpoint/dist/cli.js"), ...args], below);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The package as npm packs it, made once for each build. */
function packed(): string {
  const builtAt = statSync(join(ROOT, "dist/.built")).mtimeMs;
  const folder = join(ROOT, ".cache/packed", String(builtAt));
  while (!existsSync(folder) && isBeingPacked(folder)) Atomics.wait(NEVER_WOKEN, 0, 0, LOOK_AGAIN_MS);
  if (existsSync(folder)) return folder;
  const unpacked = `${folder}-${String(process.pid)}`;
  mkdirSync(unpacked, { recursive: true });
  const scratch = mkdtempSync(join(tmpdir(), "setpoint-pack-"));
  try {
    const npm = ["pack", "--ignore-scripts", "--silent", "--pack-destination", scratch];
    const tarball = execFileSync("npm", npm, { cwd: ROOT, encoding: "utf8" }).trim();
    execFileSync("tar", ["-xzf", join(scratch, tarball), "-C", unpacked, "--strip-components=1"]);
    settle(unpacked, folder);
    forgetOld(dirname(folder));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return folder;
}

/** Packing takes seconds of processor time, so that other processes wait for the first one. */
const LOOK_AGAIN_MS = 100;
const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4));

function isBeingPacked(folder: string): boolean {
  const [parent, prefix] = [dirname(folder), `${basename(folder)}-`];
  if (!existsSync(parent)) return false;
  const begun = readdirSync(parent).filter((name) => name.startsWith(prefix));
  return begun.length > foldersOfDead(parent, prefix).length;
}

/** Another process may have been faster; its package is the same. */
function settle(unpacked: string, folder: string): void {
  try {
    renameSync(unpacked, folder);
  } catch (error) {
    rmSync(unpacked, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}

/** A run that began before this build may still use the previous one. */
const KEPT = 3;

function forgetOld(folder: string): void {
  const names = readdirSync(folder);
  const builds = [...new Set(names.map(buildOf))].toSorted((left, right) => right - left);
  const oldest = new Set(builds.slice(KEPT));
  for (const name of names)
    if (oldest.has(buildOf(name))) rmSync(join(folder, name), { recursive: true, force: true });
}

/** Build time in the name of a folder, including `TIME-PID` of a process that is unpacking. */
function buildOf(name: string): number {
  return Number(name.split("-")[0]);
}

function dependencies(): readonly string[] {
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  return Object.keys(manifest.dependencies);
}
