/** Which room of a full store a write may use: deletions and the cluster's own upkeep go on where growth is refused. */
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import type { Transaction } from "../../store/store.ts";
import type { StoredResource } from "../objects/registry.ts";
import type { User } from "../request/user.ts";

export type WritePurpose = NonNullable<Transaction["purpose"]>;

/** `server`: what the server keeps in place itself; `cluster`: another component, a node or an administrator. */
export type Writer = "client" | "cluster" | "server";

const CLUSTER_GROUPS: ReadonlySet<string> = new Set([
  "system:masters",
  "system:nodes",
  "system:serviceaccounts:kube-system",
]);
const CLUSTER_USERS: ReadonlySet<string> = new Set([
  "system:kube-controller-manager",
  "system:kube-scheduler",
]);

export function writerOf({ name, groups }: User): Writer {
  const isOfCluster = CLUSTER_USERS.has(name) || groups.some((group) => CLUSTER_GROUPS.has(group));
  return isOfCluster ? "cluster" : "client";
}

/** A component that cannot get its lease does not work at all; other new objects are growth, Events above all. */
export function purposeOfCreation({ facts }: StoredResource, writer: Writer): WritePurpose {
  if (writer === "server") return "upkeep";
  return writer === "cluster" && facts.name === "leases" ? "upkeep" : "growth";
}

/** Only the server sets a deletionTimestamp, and never along with what a client writes. */
export function purposeOfUpdate(previous: ApiObject, next: ApiObject, writer: Writer): WritePurpose {
  const { deletionTimestamp } = previous.metadata;
  if (next.metadata.deletionTimestamp !== deletionTimestamp) return "deletion";
  if (writer !== "client" && next.kind !== "Event") return "upkeep";
  return deletionTimestamp === undefined ? "growth" : "ending";
}
