import { expect, test } from "vitest";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/types/core-v1.ts";
import { suitableVolumes } from "./volume-match.ts";

const OLD_CLASS = "volume.beta.kubernetes.io/storage-class";

function claim(spec: object = {}, metadata: object = {}): PersistentVolumeClaim {
  return {
    metadata: { namespace: "default", name: "data", uid: "u", ...metadata },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
    status: {},
  } as unknown as PersistentVolumeClaim;
}

function volume(name: string, spec: object = {}, metadata: object = {}): PersistentVolume {
  return {
    metadata: { name, ...metadata },
    spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], ...spec },
    status: { phase: "Available" },
  } as unknown as PersistentVolume;
}

const SET_ASIDE = { claimRef: { namespace: "default", name: "data", uid: "" } };

test.each([
  [
    "one that was set aside, whatever its access modes",
    { ...SET_ASIDE, accessModes: ["ReadOnlyMany"] },
    true,
  ],
  ["none that was set aside but is too small", { ...SET_ASIDE, capacity: { storage: "1Mi" } }, false],
  [
    "none that was set aside with other attributes",
    { ...SET_ASIDE, volumeAttributesClassName: "fast" },
    false,
  ],
  ["none that another claim has", { claimRef: { ...SET_ASIDE.claimRef, uid: "other" } }, false],
  ["none with other access modes", { accessModes: ["ReadOnlyMany"] }, false],
])("a claim is given %s", (_, spec, isSuitable) => {
  expect(suitableVolumes(claim(), [volume("v", spec)])).toHaveLength(isSuitable ? 1 : 0);
});

test("the old annotation names a class, too, and goes before the field", () => {
  const annotations = { [OLD_CLASS]: "slow" };
  const volumes = [volume("a", { storageClassName: "fast" }), volume("b", {}, { annotations })];

  const found = suitableVolumes(claim({ storageClassName: "fast" }, { annotations }), volumes);

  expect(found.map(({ metadata }) => metadata.name)).toEqual(["b"]);
});
