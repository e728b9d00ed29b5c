/** `setpoint new my-operator`: writes a small operator project that builds and passes its tests at once. */
import { execFile } from "node:child_process";
import { copyFileSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { createRealLoop } from "../base/loop/real/real-loop.ts";
import { makeFolder } from "../base/process/make-folder.ts";
import { findText, jsonOption, UsageError, type Command, type Io } from "./command.ts";
import { projectFiles } from "./new-project.ts";

const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const KIND = /^[A-Z][A-Za-z0-9]{0,61}$/;
/** Names that the project's files already use. */
const TAKEN_KINDS = ["DeclaredChild", "Cluster", "Deployment", "ObjectOf", "Promise"];
const GROUP = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;

export const newCommand: Command = {
  name: "new",
  usage: ["folder"],
  help: "write a small operator project into FOLDER",
  options: [
    { flags: "--kind <kind>", help: "name of the kind, in the singular", fallback: "App" },
    {
      flags: "--group <group>",
      help: "API group of the kind: a domain that you own",
      fallback: "example.com",
    },
    { flags: "--package <file>", help: "tarball of setpoint for the project (default: packed)" },
    jsonOption,
  ],
  async run(io, args) {
    const folder = resolve(io.workingDir, args.operands["folder"] ?? "");
    const name = checked("the name of the folder", basename(folder), {
      pattern: NAME,
      example: "my-operator",
    });
    const kind = checked("--kind", findText(args, "kind") ?? "", { pattern: KIND, example: "App" });
    if (TAKEN_KINDS.includes(kind)) throw new UsageError(`--kind ${kind} is taken: choose another name`);
    const group = checked("--group", findText(args, "group") ?? "", {
      pattern: GROUP,
      example: "example.com",
    });
    refuseUnlessEmpty(folder);
    const tarball = await addPackage(io, folder, findText(args, "package"));
    const files = projectFiles({ name, kind, group, tarball });
    for (const [path, text] of Object.entries(files)) await write(join(folder, path), text);
    const isJson = args.options["json"] === true;
    io.stdout(
      isJson ? `${JSON.stringify({ folder, files: [...Object.keys(files), tarball] })}\n` : nextSteps(folder),
    );
  },
};

interface Form {
  readonly pattern: RegExp;
  readonly example: string;
}

function checked(what: string, text: string, { pattern, example }: Form): string {
  if (pattern.test(text)) return text;
  throw new UsageError(`${what} must match ${pattern.source}, such as ${example}, found "${text}"`);
}

/** Rejects a folder that has files: the command never overwrites a file. */
function refuseUnlessEmpty(folder: string): void {
  const found = present(folder);
  if (found.length > 0) throw new Error(`${folder} is not empty: it has ${found.slice(0, 3).join(", ")}`);
}

function present(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

async function write(path: string, text: string): Promise<void> {
  await makeFolder(dirname(path));
  writeFileSync(path, text, { flag: "wx" });
}

/** Puts the package into the project, since it is not on npm. Returns its path in the project. */
async function addPackage(io: Io, folder: string, given: string | undefined): Promise<string> {
  const vendor = join(folder, "vendor");
  await makeFolder(vendor);
  if (given !== undefined) {
    copyFileSync(resolve(io.workingDir, given), join(vendor, basename(given)));
    return `vendor/${basename(given)}`;
  }
  const source = dirname(dirname(realpathSync(io.programFile)));
  const loop = createRealLoop({ name: "new" });
  try {
    const npm = ["pack", "--ignore-scripts", "--silent", "--pack-destination", vendor];
    const packing = promisify(execFile)("npm", npm, { cwd: source, shell: process.platform === "win32" });
    const { stdout } = await loop.outside("process", packing);
    return `vendor/${stdout.trim()}`;
  } catch (error) {
    throw new Error(`npm pack failed in ${source}: give a tarball of setpoint with --package`, {
      cause: error,
    });
  }
}

function nextSteps(folder: string): string {
  return `Wrote an operator to ${folder}.\n\n  cd ${folder}\n  npm install\n  npm test\n`;
}
