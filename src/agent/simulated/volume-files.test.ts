import { beforeEach, describe, expect, test } from "vitest";
import type { Container, Pod, Volume } from "../../api/generated/types/core-v1.ts";
import type { ContainerPlace } from "../runtime-handler.ts";
import { VolumeFiles } from "./volume-files.ts";

const EMPTY_DIR: Volume = { name: "data", emptyDir: {} };
const HOST_PATH: Volume = { name: "data", hostPath: { path: "/tmp/shared" } };
const FILE = "/data/foo";
const AT_ONCE = new Map([[FILE, { fromMs: 0, untilMs: Infinity }]]);

describe("files in volumes", () => {
  let files: VolumeFiles;

  beforeEach(() => {
    files = new VolumeFiles();
  });

  test("exist from their creation to their removal", () => {
    const here = place(EMPTY_DIR);
    files.begin(here, new Map([[FILE, { fromMs: 10, untilMs: 30 }]]), 1000);

    expect([1005, 1010, 1029, 1030].map((at) => files.isThere(here, FILE, at))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  test("are neither created nor removed after the end of the run", () => {
    const here = place(EMPTY_DIR);
    const made = new Map([
      [FILE, { fromMs: 0, untilMs: 50 }],
      ["/data/late", { fromMs: 50, untilMs: Infinity }],
    ]);
    files.begin(here, made, 1000);
    files.end(here, made, 1020);

    expect(files.isThere(here, FILE, 2000)).toBe(true);
    expect(files.isThere(here, "/data/late", 2000)).toBe(false);
  });

  test("of an emptyDir belong to one pod and are deleted with it", () => {
    files.begin(place(EMPTY_DIR), AT_ONCE, 1000);

    expect(files.isThere(place(EMPTY_DIR, { uid: "other" }), FILE, 1000)).toBe(false);
    files.forget("one");
    expect(files.isThere(place(EMPTY_DIR), FILE, 1000)).toBe(false);
  });

  test("of a hostPath belong to a node and stay", () => {
    files.begin(place(HOST_PATH), AT_ONCE, 1000);
    files.forget("one");

    expect(files.isThere(place(HOST_PATH, { uid: "other" }), FILE, 1000)).toBe(true);
    expect(files.isThere(place(HOST_PATH, { node: "node-2" }), FILE, 1000)).toBe(false);
  });

  test("are found under the path of the mount", () => {
    files.begin(place(HOST_PATH), AT_ONCE, 1000);
    const other: Volume = { name: "data", hostPath: { path: "/tmp" } };

    expect(files.isThere(place(other, { subPath: "shared" }), FILE, 1000)).toBe(true);
    expect(files.isThere(place(other), FILE, 1000)).toBe(false);
  });

  test("are unknown outside volumes, in other volume types, and behind paths with variables", () => {
    expect(files.isThere(place(EMPTY_DIR), "/database/foo", 1000)).toBeUndefined();
    expect(files.isThere(place({ name: "data", secret: {} }), FILE, 1000)).toBeUndefined();
    expect(files.isThere(place(EMPTY_DIR, { subPathExpr: "$(NAME)" }), FILE, 1000)).toBeUndefined();
  });

  test("are bounded in number", () => {
    const many = new Map(
      Array.from({ length: 1001 }, (_, n) => [`/data/${String(n)}`, { fromMs: 0, untilMs: Infinity }]),
    );
    files.begin(place(EMPTY_DIR), many, 1000);

    expect(files.isThere(place(EMPTY_DIR), "/data/999", 1000)).toBe(true);
    expect(files.isThere(place(EMPTY_DIR), "/data/1000", 1000)).toBe(false);
  });
});

interface Setting {
  readonly uid?: string;
  readonly node?: string;
  readonly subPath?: string;
  readonly subPathExpr?: string;
}

function place(volume: Volume, { uid = "one", node = "node-1", ...mount }: Setting = {}): ContainerPlace {
  const container: Container = {
    name: "main",
    resources: {},
    volumeMounts: [{ name: volume.name, mountPath: "/data", ...mount }],
  };
  const pod: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "pod", namespace: "default", uid, resourceVersion: "1", creationTimestamp: "" },
    spec: { containers: [container], volumes: [volume] },
    status: {},
  };
  return { node, pod, container };
}
