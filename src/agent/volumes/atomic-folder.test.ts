import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { giveTo, replaceFiles } from "./atomic-folder.ts";
import { setUpHostPath } from "./host-path.ts";
import type { Payload } from "./payload.ts";
import { findSubPath } from "./sub-path.ts";

const root = mkdtempSync(join(tmpdir(), "setpoint-volumes-"));
const own = join(root, "data-dir");
let count = 0;
mkdirSync(own);

afterAll(() => rmSync(root, { recursive: true }));

describe("a folder whose files are replaced at once", () => {
  test("shows the files through links, and leaves one version", async () => {
    const folder = newFolder();
    await replaceFiles(folder, files({ "a.txt": "1", "deep/b": "2", old: "x" }), version("one"));

    expect(await replaceFiles(folder, files({ "a.txt": "3", "deep/b": "2" }), version("two"))).toBe(true);

    expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("3");
    expect(readFileSync(join(folder, "deep/b"), "utf8")).toBe("2");
    expect(readdirSync(folder).toSorted()).toEqual(["..data", "..two", "a.txt", "deep"]);
  });

  test("never shows files of two versions to a reader", async () => {
    const folder = newFolder();
    await replaceFiles(folder, files({ a: "0", b: "0" }), version("v0"));
    const seen = new Set<string>();
    let isDone = false;
    const look = async (): Promise<string> => {
      const data = await realpath(join(folder, "..data"));
      const [a, b] = await Promise.all(["a", "b"].map((name) => readFile(join(data, name), "utf8")));
      return a === b ? "same" : "mixed";
    };
    const reading = (async () => {
      while (!isDone) seen.add(await look().catch(() => "gone"));
    })();
    for (let i = 1; i <= 20; i++)
      await replaceFiles(folder, files({ a: String(i), b: String(i) }), version(`v${i}`));
    isDone = true;
    await reading;

    expect(seen).toContain("same");
    expect(seen).not.toContain("mixed");
  });

  test("does nothing when the files are the same, and repairs a changed mode", async () => {
    const folder = newFolder();
    await replaceFiles(folder, files({ a: "1" }), version("one"));

    expect(await replaceFiles(folder, files({ a: "1" }), version("two"))).toBe(false);
    expect(await replaceFiles(folder, files({ a: "1" }, 0o400), version("three"))).toBe(true);
    expect(statSync(join(folder, "a")).mode & 0o777).toBe(0o400);
  });
});

describe("a subPath", () => {
  test("makes missing folders, and follows links that stay inside", async () => {
    const folder = newFolder();
    mkdirSync(join(folder, "real"));
    symlinkSync("real", join(folder, "link"));

    const { path, identity } = await findSubPath({ path: folder }, "link/new");

    const { dev, ino } = statSync(path);
    expect({ path, identity }).toEqual({
      path: join(folder, "real/new"),
      identity: `${String(dev)}:${String(ino)}`,
    });
    expect(statSync(join(folder, "real/new")).isDirectory()).toBe(true);
  });

  test("refuses links that lead out of the volume, and names with '..'", async () => {
    const folder = newFolder();
    symlinkSync("/etc", join(folder, "out"));
    symlinkSync("missing", join(folder, "dangling"));

    await expect(findSubPath({ path: folder }, "out/passwd")).rejects.toThrow("not within volume path");
    await expect(findSubPath({ path: folder }, "../x")).rejects.toThrow("must be relative");
    await expect(findSubPath({ path: folder }, "dangling/x")).rejects.toThrow("link to a missing file");
  });
});

describe("a hostPath", () => {
  test("shows nothing of the data dir, also by a link; claims show its volumes", async () => {
    const folder = newFolder();
    mkdirSync(join(own, "volumes/data"), { recursive: true });
    symlinkSync(own, join(folder, "link"));
    const setUp = (path: string, except?: string): Promise<unknown> =>
      setUpHostPath(path, { type: undefined, own, ...(except !== undefined && { except }) });

    await expect(setUp(own)).rejects.toThrow(`hostPath ${own} is in the data dir of setpoint`);
    await expect(setUp(join(folder, "link/pki"))).rejects.toThrow("is in the data dir");
    await expect(setUp(join(own, "volumes/data"))).rejects.toThrow("is in the data dir");
    await expect(setUp(join(own, "volumes"), "volumes")).rejects.toThrow("is in the data dir");
    expect(await setUp(join(own, "volumes/data"), "volumes")).toMatchObject({
      path: join(own, "volumes/data"),
    });
  });

  test("is made when its type asks for that", async () => {
    const folder = newFolder();

    await setUpHostPath(join(folder, "a/b"), { type: "DirectoryOrCreate", own });
    await setUpHostPath(join(folder, "file"), { type: "FileOrCreate", own });

    expect(statSync(join(folder, "a/b")).isDirectory()).toBe(true);
    expect(statSync(join(folder, "file")).isFile()).toBe(true);
  });

  test("is refused when its type is another", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "file"), "");

    await expect(setUpHostPath(join(folder, "file"), { type: "Directory", own })).rejects.toThrow(
      "is not a directory",
    );
    await expect(setUpHostPath(join(folder, "absent"), { type: "File", own })).rejects.toThrow(
      "is not a file",
    );
    await expect(setUpHostPath(join(folder, "file"), { type: "Socket", own })).rejects.toThrow(
      "is not a socket file",
    );
  });
});

test("the group of a volume changes, its owner does not, and links are not followed", async ({ skip }) => {
  if (process.getuid?.() !== 0) return skip("only root may change owners");
  const folder = newFolder();
  chownSync(folder, 1000, 1000);
  symlinkSync("/etc/passwd", join(folder, "link"));

  await giveTo(folder, { uid: undefined, gid: 2000 });
  await giveTo(join(folder, "link"), { uid: 1000, gid: 2000 });

  expect(statSync(folder)).toMatchObject({ uid: 1000, gid: 2000 });
  expect(statSync("/etc/passwd")).toMatchObject({ uid: 0, gid: 0 });
});

function newFolder(): string {
  const folder = join(root, String(++count));
  mkdirSync(folder);
  return folder;
}

function files(texts: Record<string, string>, mode = 0o644): Payload {
  return new Map(Object.entries(texts).map(([path, text]) => [path, { data: Buffer.from(text), mode }]));
}

function version(stamp: string) {
  return { stamp, gid: undefined };
}
