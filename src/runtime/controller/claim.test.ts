import { describe, expect, test } from "vitest";
import type { ApiObject } from "../../api/api-object.ts";
import type { ObjectMeta } from "../../api/generated/types/meta-v1.ts";
import { ownerReferenceTo } from "../refs/owner-reference.ts";
import { decideClaim } from "./claim.ts";

const GOING = { deletionTimestamp: "2026-01-01T00:00:00Z" };

function replicaSet(metadata: ObjectMeta = {}): ApiObject {
  return {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: { name: "web", namespace: "default", uid: "rs", ...metadata },
  };
}

function pod(metadata: ObjectMeta = {}): ApiObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "default", uid: "p", ...metadata },
  };
}

const OWNED = { ownerReferences: [ownerReferenceTo(replicaSet())] };
const FOREIGN = { ownerReferences: [ownerReferenceTo(replicaSet({ uid: "other" }))] };

interface Case {
  readonly what: string;
  readonly owner?: ApiObject;
  readonly object: ApiObject;
  readonly isMatch: boolean;
  readonly verdict: ReturnType<typeof decideClaim>;
}

const CASES: readonly Case[] = [
  { what: "own and matching", object: pod(OWNED), isMatch: true, verdict: "owned" },
  { what: "own, matching and going", object: pod({ ...OWNED, ...GOING }), isMatch: true, verdict: "owned" },
  { what: "own and not matching", object: pod(OWNED), isMatch: false, verdict: "release" },
  {
    what: "an owned object that does not match, with an owner being deleted",
    owner: replicaSet(GOING),
    object: pod(OWNED),
    isMatch: false,
    verdict: "ignore",
  },
  {
    what: "an object of an owner with the same name and another uid",
    object: pod(FOREIGN),
    isMatch: true,
    verdict: "ignore",
  },
  { what: "a matching orphan", object: pod(), isMatch: true, verdict: "adopt" },
  { what: "an orphan that does not match", object: pod(), isMatch: false, verdict: "ignore" },
  { what: "an orphan that goes", object: pod(GOING), isMatch: true, verdict: "ignore" },
  {
    what: "a matching orphan, with an owner being deleted",
    owner: replicaSet(GOING),
    object: pod(),
    isMatch: true,
    verdict: "ignore",
  },
  {
    what: "a matching orphan in another namespace",
    object: pod({ namespace: "other" }),
    isMatch: true,
    verdict: "ignore",
  },
];

describe("judge", () => {
  test.each(CASES)("$what: $verdict", ({ owner = replicaSet(), object, isMatch, verdict }) => {
    expect(decideClaim(owner, object, isMatch)).toBe(verdict);
  });
});
