import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCluster } from "setpoint";
import type { Cluster } from "setpoint";
import { isApiError } from "setpoint/api";
import type { Condition } from "setpoint/resources";
import { findCondition } from "setpoint/runtime";
import { describe, expect, onTestFinished, test } from "vitest";
import { File } from "./file.ts";
import { folderInMemory, folderOnDisk } from "./folder.ts";
import { keepFiles } from "./keep-files.ts";

describe("a folder kept as declared", () => {
  test("holds the declared files", async () => {
    const { cluster, disk } = await open();
    await declare(cluster, "motd", { path: "etc/motd", content: "hello" });

    expect([...disk]).toEqual([["etc/motd", "hello"]]);
    expect(ready(cluster, "motd")).toMatchObject({ status: "True", reason: "Written" });
  });

  test("is repaired after an edit by hand, which an Event reports", async () => {
    const { cluster, disk } = await open();
    await declare(cluster, "motd", { path: "motd", content: "hello" });

    disk.set("motd", "defaced");
    await cluster.clock.advance("3s");

    expect(disk.get("motd")).toBe("hello");
    expect(cluster.objects(File)[0]?.status?.repairs).toBe(1);
  });

  test("removes the old file after a rename and after a deletion", async () => {
    const { cluster, disk } = await open();
    await declare(cluster, "motd", { path: "motd", content: "hello" });

    await declare(cluster, "motd", { path: "issue", content: "hello" });
    expect([...disk.keys()]).toEqual(["issue"]);

    await cluster.client(File).delete({ name: "motd" });
    await cluster.settle();
    expect([...disk.keys()]).toEqual([]);
  });

  test("gives a path to one File; the other one waits for it", async () => {
    const { cluster, disk } = await open();
    await declare(cluster, "first", { path: "motd", content: "1" });
    await declare(cluster, "second", { path: "motd", content: "2" });
    expect(disk.get("motd")).toBe("1");
    expect(ready(cluster, "second")).toMatchObject({ message: "motd belongs to File first" });

    await declare(cluster, "first", { path: "elsewhere", content: "1" });

    expect(Object.fromEntries(disk)).toEqual({ elsewhere: "1", motd: "2" });
  });

  test("survives a crash before every step: nothing is lost, nothing is left over", async () => {
    for (let crashAt = 1; crashAt <= 6; crashAt++) {
      const disk = new Map<string, string>();
      let steps = 0;
      const stumbling = folderInMemory(disk);
      const step = (): void => {
        if (++steps === crashAt) throw new Error("crashed");
      };
      const cluster = await start({
        read: (path) => (step(), stumbling.read(path)),
        write: (path, content) => (step(), stumbling.write(path, content)),
        remove: (path) => (step(), stumbling.remove(path)),
      });
      await declare(cluster, "motd", { path: "a", content: "1" });
      await declare(cluster, "motd", { path: "b", content: "2" });

      expect([...disk]).toEqual([["b", "2"]]);
    }
  });

  test.each(["../outside", "/etc/passwd", "a/../b", ".hidden", "a//b"])(
    "refuses the path %s",
    async (path) => {
      const { cluster } = await open();

      const creating = cluster.client(File).create({ metadata: { name: "bad" }, spec: { path } });

      await expect(creating).rejects.toSatisfy((error) => isApiError(error, "Invalid"));
    },
  );
});

describe("a folder on disk", () => {
  test("is written, read and emptied", async () => {
    const root = temporaryFolder();
    const folder = folderOnDisk(root);

    await folder.write("a/b", "text");
    expect(readFileSync(join(root, "a/b"), "utf8")).toBe("text");
    expect(await folder.read("a/b")).toBe("text");

    await folder.remove("a/b");
    expect(await folder.read("a/b")).toBeUndefined();
    await folder.remove("never/there");
  });

  test("does not follow a link that leads out of it", async () => {
    const [root, outside] = [temporaryFolder(), temporaryFolder()];
    writeFileSync(join(outside, "secret"), "kept");
    symlinkSync(outside, join(root, "link"));
    const folder = folderOnDisk(root);

    await expect(folder.write("link/secret", "overwritten")).rejects.toThrow("leads out of");
    await expect(folder.remove("link/secret")).rejects.toThrow("leads out of");
    expect(readFileSync(join(outside, "secret"), "utf8")).toBe("kept");
  });
});

async function open(): Promise<{ cluster: Cluster; disk: Map<string, string> }> {
  const disk = new Map<string, string>();
  return { cluster: await start(folderInMemory(disk)), disk };
}

async function start(folder: ReturnType<typeof folderInMemory>): Promise<Cluster> {
  const cluster = await startCluster({
    clock: "virtual",
    loops: "none",
    kinds: [File],
    controllers: [keepFiles(folder)],
  });
  onTestFinished(() => cluster.stop());
  return cluster;
}

async function declare(
  cluster: Cluster,
  name: string,
  spec: { path: string; content: string },
): Promise<void> {
  await cluster.client(File).apply({ metadata: { name }, spec }, { fieldManager: "test" });
  await cluster.settle();
}

function ready(cluster: Cluster, name: string): Condition | undefined {
  const file = cluster.objects(File).find(({ metadata }) => metadata.name === name);
  return findCondition(file?.status?.conditions, "Ready");
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-folder-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
