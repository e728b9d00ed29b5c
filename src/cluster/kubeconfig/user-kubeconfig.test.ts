import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { KubeconfigLeftAlone, mergeContext, removeContext } from "./user-kubeconfig.ts";

const loop = createRealLoop({ name: "test" });
const ACCESS = { server: "https://127.0.0.1:6443", ca: "ca", user: { cert: "cert", key: "key" } };
const CONTEXT = { name: "setpoint", dataDir: "/data" };
const TEXT = "current-context: work\ncontexts:\n- name: work\n  context: {cluster: work}\n";
const isRoot = process.geteuid?.() === 0;

describe("the kubeconfig of a user", () => {
  test("is made for its owner alone, with its folder", async () => {
    const file = join(folder(), ".kube", "config");

    await merge(file);

    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(file, "..")).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(file, ".."))).toEqual(["config"]);
  });

  test("has its former text beside it", async () => {
    const file = withText(TEXT);
    chmodSync(file, 0o644);

    await merge(file);

    expect(readFileSync(file, "utf8")).toContain("name: setpoint");
    expect(readFileSync(`${file}.setpoint-backup`, "utf8")).toBe(TEXT);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(existsSync(`${file}.lock`)).toBe(false);
  });

  test("has the same contexts again after the cluster has ended", async () => {
    const file = withText(TEXT);

    await merge(file);
    await removeContext({ file, loop }, CONTEXT.dataDir);

    expect(readFileSync(file, "utf8")).not.toContain("setpoint");
    expect(readFileSync(file, "utf8")).toContain("current-context: work\n");
  });

  test("stays a link, and the file behind it changes", async () => {
    const dir = folder();
    const file = join(dir, "config");
    writeFileSync(join(dir, "dotfile"), TEXT);
    symlinkSync("dotfile", file);

    await merge(file);

    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(dir, "dotfile"), "utf8")).toContain("name: setpoint");
  });

  test("is left alone when it is a link to nothing", async () => {
    const file = join(folder(), "config");
    symlinkSync("nothing", file);

    expect(await refusal(merge(file))).toBe(
      `${file} is a link to a file that does not exist: remove it or create the file`,
    );
  });

  test("is left alone when it is no YAML", async () => {
    const file = withText("clusters: [\n");

    expect(await refusal(merge(file))).toContain(`${file} is not valid YAML (line `);
    expect(readFileSync(file, "utf8")).toBe("clusters: [\n");
    writeFileSync(file, "/data: [\n");
    expect(await refusal(removeContext({ file, loop }, CONTEXT.dataDir))).toContain("is not valid YAML");
  });

  test("is left alone while another program holds its lock", async () => {
    const file = withText(TEXT);
    writeFileSync(`${file}.lock`, "");

    expect(await refusal(merge(file, 40))).toBe(
      `${file}.lock is held by another program: remove that file if no kubectl runs`,
    );
    expect(readFileSync(file, "utf8")).toBe(TEXT);
    expect(existsSync(`${file}.lock`)).toBe(true);
  });

  test("has all contexts of clusters that start at once", async () => {
    const file = withText(TEXT);
    const names = ["a", "b", "c", "d"];

    const user = { file, loop, lockWaitMs: PATIENT_MS };
    await Promise.all(names.map((name) => mergeContext(user, { name, dataDir: `/data/${name}` }, ACCESS)));

    const text = readFileSync(file, "utf8");
    expect(names.filter((name) => !text.includes(`dataDir: /data/${name}`))).toEqual([]);
  });

  test("is left alone when it is a folder", async () => {
    const file = join(folder(), "config");
    mkdirSync(file);

    expect(await refusal(merge(file))).toContain("is not a regular file");
  });

  // Only root can give a file away. What a user without rights finds is in test/as-user/kubeconfig.test.ts.
  if (isRoot)
    test("is left alone when another user owns it", async () => {
      const file = withText(TEXT);
      chownSync(file, 65_534, 65_534);

      expect(await refusal(merge(file))).toContain(`${file} belongs to another user (65534, `);
      expect(readFileSync(file, "utf8")).toBe(TEXT);
    });
});

/** Far above what one of several merges waits for the others, also on a busy machine. */
const PATIENT_MS = 15_000;

async function merge(file: string, lockWaitMs = PATIENT_MS): Promise<void> {
  await mergeContext({ file, loop, lockWaitMs }, CONTEXT, ACCESS);
}

async function refusal(refused: Promise<void>): Promise<string> {
  const error: unknown = await refused.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(KubeconfigLeftAlone);
  return error instanceof Error ? error.message : "";
}

function withText(text: string): string {
  const file = join(folder(), "config");
  writeFileSync(file, text);
  return file;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "setpoint-kube-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
