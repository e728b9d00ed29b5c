/** A project that has installed the package as npm would ship it: packed, unpacked, and nothing else of this repository in reach. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const TSC = join(ROOT, "node_modules/typescript/bin/tsc");
/** Of projects that bring no tsconfig of their own. */
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
    mkdirSync(join(modules, "@types"), { recursive: true });
    const npm = ["pack", "--ignore-scripts", "--silent", "--pack-destination", this.folder];
    const tarball = execFileSync("npm", npm, { cwd: ROOT, encoding: "utf8" }).trim();
    execFileSync("tar", ["-xzf", join(this.folder, tarball), "-C", modules]);
    execFileSync("mv", [join(modules, "package"), join(modules, "setpoint")]);
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

  /** Checks and compiles the project in this folder below; the output says what is wrong. */
  compile(below = "."): Outcome {
    return this.node([TSC, "-p", "tsconfig.json"], below);
  }

  node(args: readonly string[], below = "."): Outcome {
    const cwd = join(this.folder, below);
    // A test runner that is started by another one reports to it instead of saying what it found.
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

  /** The command line of the package. */
  setpoint(args: readonly string[], below = "."): Outcome {
    return this.node([join(this.folder, "node_modules/setpoint/dist/cli.js"), ...args], below);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function dependencies(): readonly string[] {
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  return Object.keys(manifest.dependencies);
}
