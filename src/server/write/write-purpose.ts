/** Decides which reserve of a full store a write may use. Deletions and upkeep continue when growth is refused. */
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import type { Transaction } from "../../store/store.ts";
import type { StoredResource } from "../objects/registry.ts";
import type { User } from "../request/user.ts";

export type WritePurpose = NonNullable<Transaction["purpose"]>;

/** `server`: upkeep by the server itself; `cluster`: another component, a node or an administrator. */
export type WriterRole = "client" | "cluster" | "server";

const CLUSTER_GROUPS: ReadonlySet<string> = new Set([
  "system:masters",
  "system:nodes",
  "system:serviceaccounts:kube-system",
]);
const CLUSTER_USERS: ReadonlySet<string> = new Set([
  "system:kube-controller-manager",
  "system:kube-scheduler",
]);

export function writerRoleOf({ name, groups }: User): WriterRole {
  const isOfCluster = CLUSTER_USERS.has(name) || groups.some((group) => CLUSTER_GROUPS.has(group));
  return isOfCluster ? "cluster" : "client";
}

/** A component without its heartbeat cannot work. Other new objects are growth. */
export function purposeOfCreation({ rules }: StoredResource, writer: WriterRole): WritePurpose {
  if (writer === "server") return "upkeep";
  return writer === "cluster" && rules.isHeartbeat === true ? "upkeep" : "growth";
}

interface Update {
  readonly previous: ApiObject;
  readonly next: ApiObject;
}

/** Only the server sets a deletionTimestamp, and never together with a client's changes. */
export function purposeOfUpdate(
  { previous, next }: Update,
  { rules }: StoredResource,
  writer: WriterRole,
): WritePurpose {
  const { deletionTimestamp } = previous.metadata;
  if (next.metadata.deletionTimestamp !== deletionTimestamp) return "deletion";
  if (writer !== "client" && rules.isRecord !== true) return "upkeep";
  return deletionTimestamp === undefined ? "growth" : "ending";
}
