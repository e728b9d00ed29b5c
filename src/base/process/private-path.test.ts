import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  findExposure,
  findFolderProblem,
  findKeyFileProblem,
  readKeys,
  refuseLink,
  requireOwnFolder,
} from "./private-path.ts";

describe("a folder", () => {
  test.each([
    [1000, 0o700, 1000],
    [1000, 0o755, 1000],
    [0, 0o755, 1000],
    [0, 0o700, 0],
  ])("of user %d with mode %o is taken by user %d", (uid, mode, self) => {
    expect(findFolderProblem("/data", { uid, mode: 0o40000 | mode }, self)).toBeUndefined();
  });

  test.each([0o777, 0o775, 0o720, 0o702, 0o1777])("with mode %o is refused, with the remedy", (mode) => {
    expect(findFolderProblem("/data", { uid: 1000, mode }, 1000)).toMatch(
      /^\/data can be changed by other users \(mode 0\d{3}\): run chmod 700 \/data$/,
    );
  });

  test.each([
    [1001, 1000],
    [1000, 0],
  ])("of user %d is refused by user %d", (uid, self) => {
    expect(findFolderProblem("/data", { uid, mode: 0o700 }, self)).toContain("belongs to another user");
  });
});

describe("a file of keys", () => {
  test.each([
    [1000, 0o600],
    [1000, 0o400],
    [0, 0o640],
    [0, 0o600],
  ])("of user %d with mode %o is taken", (uid, mode) => {
    expect(findKeyFileProblem("/ca.key", { uid, mode }, 1000)).toBeUndefined();
  });

  test.each([
    [1000, 0o640],
    [1000, 0o604],
    [1000, 0o620],
    [0, 0o644],
    [0, 0o660],
  ])("of user %d with mode %o is refused, with the remedy", (uid, mode) => {
    expect(findKeyFileProblem("/ca.key", { uid, mode }, 1000)).toContain(": run chmod 600 /ca.key");
  });
});

describe.skipIf(process.platform === "win32")("on disk", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "setpoint-private-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  });

  test("a folder counts by the folder that a link leads to", async () => {
    const [open, link] = [join(folder, "open"), join(folder, "link")];
    mkdirSync(open);
    chmodSync(open, 0o777);
    symlinkSync(open, link);

    await expect(requireOwnFolder(link)).rejects.toThrow("can be changed by other users (mode 0777)");
    await expect(refuseLink(link, "do that")).rejects.toThrow(`${link} is a link to ${open}: do that`);
    await expect(requireOwnFolder(folder)).resolves.toBeUndefined();
    await expect(refuseLink(open, "")).resolves.toBeUndefined();
    await expect(refuseLink(join(folder, "none"), "")).resolves.toBeUndefined();
  });

  test("keys are read from a file of one user only", async () => {
    const path = join(folder, "key");
    writeFileSync(path, "secret", { mode: 0o600 });

    expect((await readKeys(path)).toString()).toBe("secret");
    chmodSync(path, 0o644);
    await expect(readKeys(path)).rejects.toThrow("is open to other users (mode 0644): run chmod 600");
    expect(await findExposure(path)).toContain(`${path} holds secrets and is open`);
    expect(await findExposure(join(folder, "none"))).toBeUndefined();
    await expect(readKeys(join(folder, "none"))).rejects.toMatchObject({ code: "ENOENT" });
    await expect(readKeys(folder)).rejects.toMatchObject({ code: "EISDIR", path: folder });
  });
});
