import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeFolder } from "./make-folder.ts";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "setpoint-folder-"));
});
afterEach(() => rmSync(root, { recursive: true }));

describe("makeFolder", () => {
  test("makes all missing folders with the mode", async () => {
    const path = join(root, "a/b/c");

    await makeFolder(path, 0o700);
    await makeFolder(path, 0o700);

    expect(["a", "a/b", "a/b/c"].map((name) => statSync(join(root, name)).mode & 0o777)).toEqual([
      0o700, 0o700, 0o700,
    ]);
  });

  test("makes one folder for two concurrent callers", async () => {
    const path = join(root, "a/b");

    await Promise.all([makeFolder(path), makeFolder(path)]);

    expect(statSync(path).isDirectory()).toBe(true);
  });

  test("rejects when a file has the name", async () => {
    writeFileSync(join(root, "file"), "");

    await expect(makeFolder(join(root, "file"))).rejects.toThrow("EEXIST");
    await expect(makeFolder(join(root, "file/below"))).rejects.toThrow("ENOTDIR");
  });

  test.runIf(process.platform === "linux")("rejects when the system makes no folders", async () => {
    await expect(makeFolder("/proc/setpoint/data")).rejects.toThrow("ENOENT");
  });
});
