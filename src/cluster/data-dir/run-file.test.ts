import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { claimDataDir, findRunning, removeRunFile, writeRunFile } from "./run-file.ts";

const loop = createRealLoop({ name: "test" });

test("the process that claims a data dir is found until the claim is removed", async () => {
  const dir = folder();

  const record = await claimDataDir(dir, { store: "memory" }, loop);
  const found = await findRunning(dir, loop);
  await removeRunFile(dir, loop);

  expect(record).toMatchObject({ pid: process.pid, store: "memory" });
  expect(found).toEqual(record);
  expect(await findRunning(dir, loop)).toBeUndefined();
});

test("a new process with a reused pid is not taken for the recorded one", async () => {
  const dir = folder();
  const record = await claimDataDir(dir, { store: "file" }, loop);

  await writeRunFile(dir, { ...record, begun: "at another time" }, loop);

  expect(await findRunning(dir, loop)).toBeUndefined();
});

test.each(["", "{", "7", '{"pid":-1,"begun":""}', '{"pid":"1","begun":""}'])(
  "a record that reads %j names nobody and is replaced",
  async (text) => {
    const dir = folder();
    const record = await claimDataDir(dir, { store: "file" }, loop);
    writeFileSync(join(dir, "running.json"), text);

    const found = await findRunning(dir, loop);
    await claimDataDir(dir, { store: "file" }, loop);

    expect(found).toBeUndefined();
    expect(JSON.parse(readFileSync(join(dir, "running.json"), "utf8"))).toEqual(record);
  },
);

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "setpoint-run-file-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}
