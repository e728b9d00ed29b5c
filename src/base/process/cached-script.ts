/**
 * Runs a script with V8's cached code. Compiling a large program takes a third of its start; V8 can export the
 * compiled code, which is kept in a file beside the script.
 *
 * V8 itself checks only its own version and the length of the script. So the file starts with a digest of the script,
 * the Node.js version and the code; a wrong digest means a cache miss. The script also runs when the file cannot be
 * read or written.
 */
import { createHash } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Script } from "node:vm";

/**
 * V8 compiles a function on its first call. After this time a server has called everything a start needs; shorter
 * programs start quickly anyway.
 */
const WRITE_AFTER_MS = 2000;

const DIGEST_BYTES = 32;

/**
 * Returns the value of the script in the file. The script cannot use `import()` and must be plain ASCII: its text
 * then takes one byte per character, without decoding.
 */
export function runCachedScript(file: string): unknown {
  const source = readFileSync(file);
  const cacheFile = `${file}.cache`;
  const cached = readCache(cacheFile, source);
  const script = new Script(source.toString("latin1"), {
    filename: file,
    ...(cached !== undefined && { cachedData: cached }),
  });
  // V8 rejects code that was compiled with other flags; a program may also change them at run time.
  const isUsed = cached !== undefined && script.cachedDataRejected !== true;
  if (!isUsed) setTimeout(() => writeCache(cacheFile, script, source), WRITE_AFTER_MS).unref();
  return script.runInThisContext();
}

function readCache(cacheFile: string, source: Buffer): Buffer | undefined {
  try {
    const bytes = readFileSync(cacheFile);
    const cached = bytes.subarray(DIGEST_BYTES);
    return bytes.subarray(0, DIGEST_BYTES).equals(digestOf(source, cached)) ? cached : undefined;
  } catch {
    return undefined;
  }
}

/** Writes to a temporary name and renames, because other processes may start at the same time. */
function writeCache(cacheFile: string, script: Script, source: Buffer): void {
  const code = script.createCachedData();
  const unfinished = `${cacheFile}.${String(process.pid)}`;
  try {
    writeFileSync(unfinished, Buffer.concat([digestOf(source, code), code]));
    renameSync(unfinished, cacheFile);
  } catch {
    rmSync(unfinished, { force: true });
  }
}

function digestOf(source: Buffer, code: Buffer): Buffer {
  return createHash("sha256")
    .update(process.version)
    .update(process.arch)
    .update(source)
    .update(code)
    .digest();
}
