/** A small file system of its own, to fill up. */
import { execFileSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Size unless a test asks for another one; a store's own files take about a quarter of it. */
export const DISK_KIB = 2048;

export interface SmallDisk extends AsyncDisposable {
  readonly dir: string;
}

/** Undefined if this user may not mount one. */
export async function mountSmallDisk(kib = DISK_KIB): Promise<SmallDisk | undefined> {
  const dir = await mkdtemp(join(tmpdir(), "setpoint-small-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${kib}k`, "tmpfs", dir], { stdio: "ignore" });
  } catch {
    await rm(dir, { recursive: true });
    return undefined;
  }
  return {
    dir,
    [Symbol.asyncDispose]: async () => {
      execFileSync("umount", ["--lazy", dir], { stdio: "ignore" });
      await rm(dir, { recursive: true });
    },
  };
}

/** Until not a byte is free. */
export function fillWithNothing(dir: string, name = "filler"): void {
  const fd = openSync(join(dir, name), "w");
  try {
    for (;;) writeSync(fd, Buffer.alloc(4096));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  } finally {
    closeSync(fd);
  }
}
