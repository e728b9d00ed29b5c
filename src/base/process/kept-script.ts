/**
 * Runs a script with what V8 made of it before. To compile a large program anew takes a third of its start, and V8 gives out what it compiled: that
 * is kept in a file beside the script.
 *
 * V8 itself tells only its own version and the length of the script apart. So the file begins with a digest, and is used only when it was made of this very
 * script by this very Node.js and is intact. Where it cannot be read or written, everything is as without it.
 */
import { createHash } from "node:crypto";
import { closeSync, openSync, readSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { Script } from "node:vm";

/** V8 compiles a function when it is first called. By then a server has called all that a start needs, and whatever ends sooner starts quickly anyway. */
const KEEP_AFTER_MS = 2000;

const DIGEST_BYTES = 32;

/**
 * The value of the script in the file. It cannot use `import()`, and must be plain ASCII: then its text takes one byte a character in memory, and none
 * has to be decoded.
 */
export function runKeptScript(file: string): unknown {
  const source = readLarge(file);
  const keptFile = `${file}.cache`;
  const kept = readKept(keptFile, source);
  const script = new Script(source.toString("latin1"), {
    filename: file,
    ...(kept !== undefined && { cachedData: kept }),
  });
  // V8 takes nothing that was made with other flags, which a program may also set while it runs.
  const isUsed = kept !== undefined && script.cachedDataRejected !== true;
  if (!isUsed) setTimeout(() => keep(keptFile, script, source), KEEP_AFTER_MS).unref();
  return script.runInThisContext();
}

function readKept(keptFile: string, source: Buffer): Buffer | undefined {
  try {
    const bytes = readLarge(keptFile);
    const kept = bytes.subarray(DIGEST_BYTES);
    return bytes.subarray(0, DIGEST_BYTES).equals(digestOf(source, kept)) ? kept : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The C library takes the size of the largest block up to 32 MB that was freed as a measure of what each thread may keep to itself, and 3 MB for each of ten threads
 * are more than the whole program. A block above that leaves it at its default, and costs nothing where nobody writes to it.
 */
const LARGE_BYTES = 33 << 20;

function readLarge(file: string): Buffer {
  const block = Buffer.allocUnsafeSlow(LARGE_BYTES);
  const descriptor = openSync(file, "r");
  try {
    return block.subarray(0, readSync(descriptor, block));
  } finally {
    closeSync(descriptor);
  }
}

/** Under a name of its own first: others may start at the same time. */
function keep(keptFile: string, script: Script, source: Buffer): void {
  const made = script.createCachedData();
  const unfinished = `${keptFile}.${String(process.pid)}`;
  try {
    writeFileSync(unfinished, Buffer.concat([digestOf(source, made), made]));
    renameSync(unfinished, keptFile);
  } catch {
    rmSync(unfinished, { force: true });
  }
}

function digestOf(source: Buffer, made: Buffer): Buffer {
  return createHash("sha256")
    .update(process.version)
    .update(process.arch)
    .update(source)
    .update(made)
    .digest();
}
