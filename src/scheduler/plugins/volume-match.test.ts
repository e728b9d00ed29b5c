import { expect, test } from "vitest";
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/types/core-v1.ts";
import { incomplete } from "../../api/object-fixture.ts";
import { suitableVolumes } from "./volume-match.ts";

const OLD_CLASS = "volume.beta.kubernetes.io/storage-class";

function claim(spec: object = {}, metadata: object = {}): PersistentVolumeClaim {
  return incomplete<PersistentVolumeClaim>({
    metadata: { namespace: "default", name: "data", uid: "u", ...metadata },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
    status: {},
  });
}

function volume(name: string, spec: object = {}, metadata: object = {}): PersistentVolume {
  return incomplete<PersistentVolume>({
    metadata: { name, ...metadata },
    spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], ...spec },
    status: { phase: "Available" },
  });
}

const RESERVED = { claimRef: { namespace: "default", name: "data", uid: "" } };

test.each([
  ["a reserved one, regardless of its access modes", { ...RESERVED, accessModes: ["ReadOnlyMany"] }, true],
  ["no reserved one that is too small", { ...RESERVED, capacity: { storage: "1Mi" } }, false],
  ["no reserved one with other attributes", { ...RESERVED, volumeAttributesClassName: "fast" }, false],
  ["none of another claim", { claimRef: { ...RESERVED.claimRef, uid: "other" } }, false],
  ["none with other access modes", { accessModes: ["ReadOnlyMany"] }, false],
])("a claim gets %s", (_, spec, isSuitable) => {
  expect(suitableVolumes(claim(), [volume("v", spec)])).toHaveLength(isSuitable ? 1 : 0);
});

test("the legacy class annotation overrides the field", () => {
  const annotations = { [OLD_CLASS]: "slow" };
  const volumes = [volume("a", { storageClassName: "fast" }), volume("b", {}, { annotations })];

  const found = suitableVolumes(claim({ storageClassName: "fast" }, { annotations }), volumes);

  expect(found.map(({ metadata }) => metadata.name)).toEqual(["b"]);
});
