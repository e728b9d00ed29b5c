/** Finds where the last lines of a log begin, from its end backwards. */
import { open, type FileHandle } from "node:fs/promises";
import { isMissing } from "./log-files.ts";

export interface LogPosition {
  /** Index in the list of files. */
  readonly file: number;
  readonly offset: number;
}

const NEWLINE = 0x0a;
const BLOCK_BYTES = 64 * 1024;

/** Position behind which the files, oldest first, have `count` lines; their start if they have fewer. */
export async function findTail(files: readonly string[], count: number): Promise<LogPosition> {
  let missing = count;
  for (let file = files.length - 1; file >= 0; file--) {
    const found = await findInFile(files[file] ?? "", missing);
    if (found.offset !== undefined) return { file, offset: found.offset };
    missing -= found.lines;
  }
  return { file: 0, offset: 0 };
}

interface FileTail {
  /** Start of the wanted lines; undefined if the file has fewer. */
  readonly offset: number | undefined;
  readonly lines: number;
}

async function findInFile(path: string, count: number): Promise<FileTail> {
  const file = await openOrMissing(path);
  if (file === undefined) return { offset: undefined, lines: 0 };
  try {
    const { size } = await file.stat();
    if (count === 0) return { offset: size, lines: 0 };
    const block = Buffer.allocUnsafe(BLOCK_BYTES);
    // The newline at the very end closes the last line.
    let lines = size === 0 ? 0 : 1;
    for (let end = size - 1; end > 0; end -= Math.min(end, BLOCK_BYTES)) {
      const start = Math.max(0, end - BLOCK_BYTES);
      const { bytesRead } = await file.read(block, 0, end - start, start);
      const newlines = newlinesOf(block.subarray(0, bytesRead));
      const wanted = newlines.at(-(count - lines + 1));
      if (wanted !== undefined) return { offset: start + wanted + 1, lines: count };
      lines += newlines.length;
    }
    return { offset: lines === count ? 0 : undefined, lines };
  } finally {
    await file.close();
  }
}

function newlinesOf(block: Buffer): readonly number[] {
  const found: number[] = [];
  for (let at = block.indexOf(NEWLINE); at >= 0; at = block.indexOf(NEWLINE, at + 1)) found.push(at);
  return found;
}

async function openOrMissing(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
