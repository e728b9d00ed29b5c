import { describe, expect, test } from "vitest";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/types/core-v1.ts";
import { findMismatch, findVolume } from "./find-volume.ts";

type VolumeSpec = PersistentVolume["spec"];
type ClaimSpec = PersistentVolumeClaim["spec"];

function metadata(name: string) {
  return { name, uid: `uid-${name}`, resourceVersion: "1", creationTimestamp: "" };
}

function volume(name: string, spec: VolumeSpec): PersistentVolume {
  const capacity = { storage: "5Gi" };
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: metadata(name),
    spec: { capacity, accessModes: ["ReadWriteOnce"], ...spec },
    status: {},
  };
}

function claim(spec: Partial<ClaimSpec> = {}): PersistentVolumeClaim {
  const resources = { requests: { storage: "1Gi" } };
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { ...metadata("data"), namespace: "default" },
    spec: { resources, accessModes: ["ReadWriteOnce"], ...spec },
    status: {},
  };
}

const NAMING = { claimRef: { namespace: "default", name: "data" } };

describe("findVolume", () => {
  test("prefers the volume with fewer access modes to a smaller one", () => {
    const versatile = volume("a", {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce", "ReadWriteMany"],
    });
    const plain = volume("b", { capacity: { storage: "9Gi" } });

    expect(findVolume(claim(), [versatile, plain])?.metadata.name).toBe("b");
  });

  test("takes a volume that names the claim, regardless of class and labels", () => {
    const wanted = claim({ storageClassName: "fast", selector: { matchLabels: { a: "b" } } });

    expect(findVolume(wanted, [volume("v", NAMING)])?.metadata.name).toBe("v");
  });

  test.each<[string, VolumeSpec]>([
    ["too small", { capacity: { storage: "500Mi" } }],
    ["of another mode", { volumeMode: "Block" }],
    ["without an access mode", { accessModes: ["ReadOnlyMany"] }],
  ])("does not take a volume that names the claim and is %s", (_, spec) => {
    expect(findVolume(claim(), [volume("v", { ...NAMING, ...spec })])).toBeUndefined();
  });

  test("reads the class from the legacy annotation too", () => {
    const old = volume("v", {});
    const annotations = { "volume.beta.kubernetes.io/storage-class": "fast" };

    const found = findVolume(claim({ storageClassName: "fast" }), [
      { ...old, metadata: { ...old.metadata, annotations } },
    ]);

    expect(found?.metadata.name).toBe("v");
  });
});

describe("findMismatch", () => {
  test.each<[string, VolumeSpec]>([
    ["requested PV is too small", { capacity: { storage: "1Mi" }, storageClassName: "x" }],
    ["storageClassName does not match", { storageClassName: "x" }],
    ["incompatible volumeMode", { volumeMode: "Block" }],
    ["incompatible accessMode", { accessModes: [] }],
    ["volumeAttributesClassName does not match", { volumeAttributesClassName: "gold" }],
  ])("says %s", (why, spec) => {
    expect(findMismatch(volume("v", spec), claim())).toBe(why);
  });

  test("reports the first mismatch in upstream's order", () => {
    const spec = { storageClassName: "x", volumeMode: "Block" } as const;

    expect(findMismatch(volume("v", spec), claim())).toBe("storageClassName does not match");
  });

  test("ignores labels", () => {
    const wanted = claim({ selector: { matchLabels: { a: "b" } } });

    expect(findMismatch(volume("v", {}), wanted)).toBeUndefined();
  });
});
