import { describe, expect, test } from "vitest";
import type { ConfigMap, Pod } from "../../api/generated/types/core-v1.ts";
import { downwardPayload } from "./downward-files.ts";
import { checkedPath, configMapPayload, joinedPayload, type Payload } from "./payload.ts";
import { kindOf, mountedVolumes } from "./volume-kind.ts";

const FORM = { items: undefined, mode: 0o644, isOptional: false };

describe("the files of a ConfigMap", () => {
  test("are all keys, texts and bytes, with the default mode", () => {
    const object = configMap({ "a.txt": "hello" }, { blob: Buffer.from([0, 255]).toString("base64") });

    expect(shown(configMapPayload(object, FORM, "web"))).toEqual([
      ["a.txt", "68656c6c6f", 0o644],
      ["blob", "00ff", 0o644],
    ]);
  });

  test("are the chosen keys at their paths with their modes", () => {
    const items = [{ key: "a", path: "deep/er/file", mode: 0o400 }];

    expect(shown(configMapPayload(configMap({ a: "1", b: "2" }), { ...FORM, items }, "web"))).toEqual([
      ["deep/er/file", "31", 0o400],
    ]);
  });

  test("are missing with an error, unless optional", () => {
    const items = [{ key: "absent", path: "x" }];
    const optional = { ...FORM, isOptional: true };

    expect(() => configMapPayload(undefined, FORM, "web")).toThrow('configmap "web" not found');
    expect(() => configMapPayload(configMap({}), { ...FORM, items }, "web")).toThrow(
      "references non-existent config key: absent",
    );
    expect(configMapPayload(undefined, optional, "web").size).toBe(0);
    expect(configMapPayload(configMap({}), { ...optional, items }, "web").size).toBe(0);
  });

  test("cannot leave the volume by the name of a key", () => {
    for (const key of ["../x", "/etc/passwd", ".."])
      expect(() => configMapPayload(configMap({ [key]: "1" }), FORM, "web")).toThrow("invalid path");
  });

  test("cannot leave the volume", () => {
    for (const path of ["../x", "/etc/passwd", "a/../../x", "", "..data/x"])
      expect(() => checkedPath(path)).toThrow("invalid path");
    expect(checkedPath("a/./b")).toBe("a/b");
  });
});

describe("a projected volume", () => {
  test("refuses two sources of one path", () => {
    const one: Payload = new Map([["a", { data: Buffer.from("1"), mode: 0o644 }]]);

    expect(() => joinedPayload([one, one])).toThrow('conflicting duplicate path: "a"');
  });
});

describe("the files of the downward API", () => {
  test("show labels as lines, fields, and resources that default to the node's", () => {
    const items = [
      { path: "labels", fieldRef: { fieldPath: "metadata.labels" } },
      { path: "name", fieldRef: { fieldPath: "metadata.name" } },
      { path: "cpu", resourceFieldRef: { containerName: "web", resource: "limits.cpu", divisor: "1m" } },
      { path: "memory", resourceFieldRef: { containerName: "web", resource: "requests.memory" } },
    ];
    const payload = downwardPayload(pod({}), { items, mode: 0o644, allocatable: { cpu: "4" } });

    expect([...payload].map(([path, { data }]) => [path, String(data)])).toEqual([
      ["labels", 'app="web"\ntier="a\\"b"'],
      ["name", "web"],
      ["cpu", "4000"],
      ["memory", "67108864"],
    ]);
  });
});

describe("the kind of a volume", () => {
  test.each([
    [{ emptyDir: { medium: "Memory" } }, { type: "empty", isMemory: true }],
    [{ ephemeral: {} }, { type: "claim", claim: "web-v" }],
    [{ nfs: { server: "s", path: "/" } }, { type: "unsupported", source: "nfs" }],
    [{ secret: { secretName: "s", defaultMode: 0o400 } }, { type: "files", mode: 0o400 }],
  ])("of %j", (source, kind) => {
    expect(kindOf(pod({}), { name: "v", ...source })).toMatchObject(kind);
  });

  test("counts only volumes that a container mounts", () => {
    const volumes = [{ name: "v" }, { name: "unused" }];

    expect(mountedVolumes(pod({ volumes })).map(({ name }) => name)).toEqual(["v"]);
  });
});

function shown(payload: Payload): readonly (readonly [string, string, number])[] {
  return [...payload].map(([path, { data, mode }]) => [path, Buffer.from(data).toString("hex"), mode]);
}

function configMap(data: Record<string, string>, binaryData?: Record<string, string>): ConfigMap {
  return { metadata: { name: "web" }, data, ...(binaryData && { binaryData }) } as ConfigMap;
}

function pod(spec: Partial<Pod["spec"]>): Pod {
  const resources = { requests: { memory: "64Mi" } };
  const containers = [{ name: "web", resources, volumeMounts: [{ name: "v", mountPath: "/v" }] }];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...{ name: "web", namespace: "default", uid: "1", resourceVersion: "1", creationTimestamp: "" },
      labels: { tier: 'a"b', app: "web" },
    },
    spec: { containers, ...spec },
    status: {},
  };
}
