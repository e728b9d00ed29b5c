import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { findPeer } from "./find-peer.ts";

describe("findPeer", () => {
  test("a program on PATH is found with its path", () => {
    const folder = folderWith("etcd", 0o755);

    const peer = findPeer("etcd", { PATH: `/nonexistent:${folder}` });

    expect(peer).toEqual({ state: "available", path: join(folder, "etcd") });
  });

  test("a file that is not executable is no program", () => {
    expect(findPeer("etcd", { PATH: folderWith("etcd", 0o644) }).state).toBe("missing");
  });

  test("a missing program says what to install", () => {
    expect(findPeer("etcd", { PATH: "" })).toEqual({
      state: "missing",
      message: "needs etcd on PATH: apt-get install etcd-server",
    });
  });

  test("a missing program is not allowed where peers are required", () => {
    expect(findPeer("kubectl", { PATH: "", SETPOINT_REQUIRE_PEERS: "1" }).state).toBe("required");
  });
});

function folderWith(name: string, mode: number): string {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-peers-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, name), "");
  chmodSync(join(folder, name), mode);
  return folder;
}
