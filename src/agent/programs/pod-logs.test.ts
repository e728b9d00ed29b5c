import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Container, Pod } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import type { LogView } from "../runtime-handler.ts";
import { PodLogs } from "./pod-logs.ts";

const ALL: LogView = {
  ...{ follow: false, timestamps: false, stream: "All", tailLines: undefined },
  ...{ sinceMs: undefined, limitBytes: undefined },
};

describe("the logs of a pod", () => {
  const container = incomplete<Container>({ name: "main" });
  let folder: string;
  let logs: PodLogs;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "setpoint-logs-"));
    logs = new PodLogs(folder);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function write(owner: ReturnType<typeof ownerOf>, attempt: number): Promise<void> {
    const path = await logs.make(owner, attempt);
    writeFileSync(path, `2026-05-01T12:00:00.000000000Z stdout F run ${String(attempt)}\n`);
    writeFileSync(`${path}.20260501120000.000`, "");
  }

  function ownerOf(uid: string) {
    return { pod: incomplete<Pod>({ metadata: { name: "web", namespace: "shop", uid } }), container };
  }

  async function read(attempt: number | undefined): Promise<string | undefined> {
    const log = await logs.read(ownerOf("1"), { ...ALL, attempt });
    return log && text(log);
  }

  test("are those of the last run and the one before, whole", async () => {
    for (const attempt of [0, 1, 2, 9, 10]) await write(ownerOf("1"), attempt);

    expect(readdirSync(join(folder, "shop_web_1", "main")).toSorted()).toEqual([
      ...["10.log", "10.log.20260501120000.000", "9.log", "9.log.20260501120000.000"],
    ]);
    expect([await read(9), await read(10), await read(undefined)]).toEqual([
      ...["run 9\n", "run 10\n", "run 10\n"],
    ]);
  });

  test("are missing for a run that never was", async () => {
    expect(await read(undefined)).toBeUndefined();
    await write(ownerOf("1"), 0);

    expect(await read(1)).toBeUndefined();
  });

  test("go with their pod", async () => {
    for (const uid of ["1", "2", "3"]) await write(ownerOf(uid), 0);

    await logs.remove(ownerOf("3").pod);
    await logs.sweep(new Set(["1", "3"]));

    expect(readdirSync(folder)).toEqual(["shop_web_1"]);
  });
});
