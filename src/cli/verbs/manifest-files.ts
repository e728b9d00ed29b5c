/** Manifests in files, folders and standard input, as `-f` names them. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import { isJsonObject } from "../../api/json/json-object.ts";
import { parseYaml } from "../../api/yaml/yaml.ts";
import { errorText } from "../../base/error-text.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { findTexts, UsageError, type Io } from "../command.ts";
import type { VerbSession } from "./verb-session.ts";

export interface FileManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

const ENDINGS = /\.(?:ya?ml|json)$/;

/** Upper bound of the bytes of one file. */
const FILE_BYTES_MAX = 64 * 1024 * 1024;

/** All manifests of the files in `--filename`, in order. Throws with the file's name when one is not a manifest. */
export async function readManifests({ io, args, loop }: VerbSession): Promise<readonly FileManifest[]> {
  const paths = findTexts(args, "filename");
  const url = paths.find((path) => /^https?:\/\//.test(path));
  if (url !== undefined)
    throw new UsageError(`-f takes no URLs; pipe it: curl -fsSL ${url} | setpoint … -f -`);
  if (paths.length === 0) throw new UsageError("name the manifests: -f FILE, -f FOLDER or -f - for stdin");
  const manifests: FileManifest[] = [];
  for (const path of paths) {
    const files =
      path === "-" ? ["-"] : await filesAt(resolve(io.workingDir, path), args.options["recursive"] === true);
    for (const file of files) manifests.push(...(await manifestsIn(io, file, loop)));
  }
  if (manifests.length === 0) throw new Error(`${paths.join(", ")} has no manifests`);
  return manifests;
}

async function filesAt(path: string, isRecursive: boolean): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const entries = await readdir(path, { withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.toSorted((left, right) => (left.name < right.name ? -1 : 1))) {
    const child = join(path, entry.name);
    if (entry.isDirectory() && isRecursive) found.push(...(await filesAt(child, true)));
    else if (entry.isFile() && ENDINGS.test(entry.name)) found.push(child);
  }
  return found;
}

async function manifestsIn(io: Io, file: string, loop: Loop): Promise<readonly FileManifest[]> {
  const name = file === "-" ? "standard input" : file;
  const reading = file === "-" ? buffer(io.streams().stdin) : readFile(file);
  const bytes = await loop.outside("read", reading);
  if (bytes.length > FILE_BYTES_MAX)
    throw new Error(`${name} is larger than ${String(FILE_BYTES_MAX)} bytes`);
  return documentsIn(new TextDecoder().decode(bytes)).flatMap((text) => {
    try {
      const { value } = parseYaml(new TextEncoder().encode(text));
      return value === null ? [] : itemsOf(value);
    } catch (error) {
      throw new Error(`${name}: ${errorText(error)}`, { cause: error });
    }
  });
}

/** Documents of a YAML stream. */
function documentsIn(text: string): readonly string[] {
  return text.split(/^---(?:[ \t].*)?\r?$/m).filter((document) => /^\s*[^#\s]/m.test(document));
}

/** A manifest, or the items of a List. */
function itemsOf(value: unknown): readonly FileManifest[] {
  if (!isJsonObject(value)) throw new Error("expected an object with apiVersion and kind");
  const { items, kind } = value;
  if (typeof kind === "string" && kind.endsWith("List") && Array.isArray(items))
    return items.flatMap(itemsOf);
  if (!isManifest(value)) throw new Error("apiVersion, kind and metadata.name are needed");
  return [value];
}

function isManifest(value: object): value is FileManifest {
  if (!isJsonObject(value)) return false;
  const { apiVersion, kind, metadata } = value;
  const name = isJsonObject(metadata) ? metadata["name"] : undefined;
  return [apiVersion, kind, name].every((text) => typeof text === "string" && text !== "");
}
