/** `setpoint new my-operator`: writes a small operator project that builds and passes its tests at once. */
import { readdirSync, realpathSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { makeFolder } from "../base/process/make-folder.ts";
import { findText, jsonOption, UsageError, type Command } from "./command.ts";
import { projectFiles } from "./new-project.ts";

const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const KIND = /^[A-Z][A-Za-z0-9]{0,61}$/;
/** Names that the project's files already use. */
const TAKEN_KINDS = ["ChildManifest", "Cluster", "Deployment", "ObjectOf", "Promise"];
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
    const files = projectFiles({ name, kind, group });
    for (const [path, text] of Object.entries(files)) await write(join(folder, path), text);
    const isJson = args.options["json"] === true;
    io.stdout(
      isJson
        ? `${JSON.stringify({ folder, files: Object.keys(files) })}\n`
        : nextSteps(folder, packageOf(io.programFile)),
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

/** The package is not on npm: the project installs it from the folder of this program. */
function nextSteps(folder: string, source: string): string {
  return `Wrote an operator to ${folder}.\n\n  cd ${folder}\n  npm install ${source}\n  npm test\n`;
}

function packageOf(programFile: string): string {
  return dirname(dirname(realpathSync(programFile)));
}
