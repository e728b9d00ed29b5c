/** Files of one run's log: the current one, and older ones beside it with the time of their rotation as suffix. */
import { readdir, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Bounds of the log of one run. */
export interface LogLimits {
  /** Size at which a file is rotated. */
  readonly maxFileBytes: number;
  /** The current file included. */
  readonly maxFiles: number;
}

/** The kubelet's `containerLogMaxSize` and `containerLogMaxFiles`. */
export const DEFAULT_LOG_LIMITS: LogLimits = { maxFileBytes: 10 * 1024 * 1024, maxFiles: 5 };

/** Rotated files, oldest first; empty if the folder does not exist. */
export async function listRotated(path: string): Promise<readonly string[]> {
  const prefix = `${basename(path)}.`;
  const names = await readdir(dirname(path)).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  const rotated = names.filter((name) => name.startsWith(prefix)).toSorted();
  return rotated.map((name) => join(dirname(path), name));
}

/** Moves the current file aside, and deletes files beyond the limit. */
export async function rotateLog(path: string, at: number, { maxFiles }: LogLimits): Promise<void> {
  const rotated = await listRotated(path);
  await rename(path, nextName(path, at, rotated));
  // The renamed file and the new one come on top.
  const surplus = rotated.slice(0, Math.max(0, rotated.length + 2 - maxFiles));
  await Promise.all(surplus.map((file) => unlink(file)));
}

/** Sorts behind all rotated files, also after the clock was set back. */
function nextName(path: string, at: number, rotated: readonly string[]): string {
  const name = (time: number) => `${path}.${new Date(time).toISOString().replace(/[-:TZ]/g, "")}`;
  const newest = rotated.at(-1);
  if (newest === undefined || name(at) > newest) return name(at);
  const [, year, month, day, hour, minute, rest] =
    /(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)([\d.]+)$/.exec(newest) ?? [];
  const time = Date.parse(
    `${year ?? ""}-${month ?? ""}-${day ?? ""}T${hour ?? ""}:${minute ?? ""}:${rest ?? ""}Z`,
  );
  return Number.isNaN(time) ? `${newest}.1` : name(time + 1);
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
