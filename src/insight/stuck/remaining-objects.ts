/** Finds the objects that keep a namespace from being deleted. */
import type { ApiObject } from "../../api/api-object.ts";
import { Namespace } from "../../api/generated/types/core-v1.ts";
import { findResource, readServedResources } from "../../client/served-resources.ts";
import { findCondition } from "../state/conditions.ts";
import type { FactReader } from "./fact-reader.ts";
import type { Remaining } from "./situation.ts";

/** Kinds that are looked at. */
const KINDS_MAX = 5;

/** `Some resources are remaining: configmaps. has 1 resource instances, widgets.example.com has 2 resource instances` */
const REMAINING = /([a-z0-9.-]+?)\.? has \d+ resource instances/g;

export async function remainingIn(reader: FactReader, object: ApiObject): Promise<readonly Remaining[]> {
  const isLeaving =
    object.kind === Namespace.kind &&
    object.apiVersion === Namespace.apiVersion &&
    object.metadata.deletionTimestamp !== undefined;
  const message = isLeaving ? findCondition(object, "NamespaceContentRemaining")?.message : undefined;
  const names = [...(message ?? "").matchAll(REMAINING)].map(([, name = ""]) => name).slice(0, KINDS_MAX);
  if (names.length === 0) return [];
  const served = await readServedResources(reader.client);
  const { name: namespace = "" } = object.metadata;
  const found = await Promise.all(
    names.map(async (resource): Promise<Remaining> => {
      const type = findResource(resource, served);
      return { resource, objects: type === undefined ? [] : await reader.list(type, { namespace }) };
    }),
  );
  return found.filter(({ objects }) => objects.length > 0);
}
