import { describe, expect, test } from "vitest";
import type { StatefulSet } from "../../api/generated/types/apps-v1.ts";
import type { PersistentVolumeClaim, Pod } from "../../api/generated/types/core-v1.ts";
import type { OwnerReference } from "../../api/generated/types/meta-v1.ts";
import { planOwners } from "./claims.ts";

const STAMP = "2026-01-01T00:00:00Z";

function metadataOf(name: string, uid: string) {
  return { name, uid, resourceVersion: "1", creationTimestamp: STAMP };
}

const SET: StatefulSet = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: metadataOf("web", "set-uid"),
  spec: {
    serviceName: "",
    replicas: 1,
    selector: {},
    template: { metadata: {}, spec: { containers: [] } },
    updateStrategy: { type: "RollingUpdate" },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete", whenScaled: "Delete" },
  },
  status: { replicas: 0, availableReplicas: 0 },
};

const POD: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: metadataOf("web-0", "pod-uid"),
  spec: { containers: [] },
  status: {},
};

const OF_SET = { apiVersion: "apps/v1", kind: "StatefulSet", name: "web", uid: "set-uid", controller: true };
const OF_POD = { apiVersion: "v1", kind: "Pod", name: "web-0", uid: "pod-uid", controller: true };
const FOREIGN = { apiVersion: "v1", kind: "Other", name: "other", uid: "other-uid" };

/** Uids of the claim's wanted owners; undefined if unchanged. */
function plan(...ownerReferences: readonly OwnerReference[]): readonly string[] | undefined {
  const claim: PersistentVolumeClaim = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { ...metadataOf("data-web-0", "claim-uid"), ownerReferences },
    spec: { resources: {} },
    status: {},
  };
  return planOwners(SET, POD, claim)?.map(({ uid }) => uid);
}

describe("the owners of a claim", () => {
  test.each<[string, readonly OwnerReference[], readonly string[] | undefined]>([
    ["are the set", [], ["set-uid"]],
    ["stay unchanged", [OF_SET], undefined],
    ["are the set, not a pod within the range", [OF_POD], ["set-uid"]],
    ["are made controllers", [{ ...OF_SET, controller: false }], ["set-uid"]],
    ["stay beside others", [FOREIGN], ["other-uid", "set-uid"]],
    ["give way to another controller", [OF_SET, { ...FOREIGN, controller: true }], ["other-uid"]],
    ["stay with an earlier set of the same name", [{ ...OF_SET, uid: "gone" }], undefined],
    ["stay with an earlier pod of the same name", [{ ...OF_POD, uid: "gone" }, OF_SET], undefined],
    [
      "are the set beside an object of another kind with its name",
      [{ ...FOREIGN, kind: "StatefulSet", name: "web" }],
      ["other-uid", "set-uid"],
    ],
  ])("%s", (_, owners, expected) => {
    expect(plan(...owners)).toEqual(expected);
  });
});
