/** Finds the kind that a user names: `pod`, `po`, `deployments.apps`, `Deployment`. */
import type { ResourceType } from "../api/api-object.ts";
import type { Client } from "../client/client.ts";

interface ResourceList {
  readonly groupVersion: string;
  readonly resources: readonly ServedResource[];
}

interface ServedResource {
  readonly name: string;
  readonly singularName: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly shortNames?: readonly string[];
  readonly verbs: readonly string[];
}

interface GroupList {
  readonly groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[];
}

/** Most questions are about these; they are asked before the others. */
const COMMON = ["/api/v1", "/apis/apps/v1", "/apis/batch/v1"];

/** Undefined when the server serves no such kind. */
export async function findServedKind(client: Client, text: string): Promise<ResourceType | undefined> {
  const [name = "", ...groupParts] = text.toLowerCase().split(".");
  const asked = { name, group: groupParts.join(".") };
  const common = findIn(await readLists(client, COMMON), asked);
  if (common !== undefined) return common;
  const { groups } = (await client.request({ path: "/apis" })) as GroupList;
  const paths = groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`);
  const others = paths.filter((path) => !COMMON.includes(path));
  return findIn(await readLists(client, others), asked);
}

/** A group whose server is down is left out. */
async function readLists(client: Client, paths: readonly string[]): Promise<readonly ResourceList[]> {
  const settled = await Promise.allSettled(paths.map(async (path) => await client.request({ path })));
  return settled.flatMap((each) => (each.status === "fulfilled" ? [each.value as ResourceList] : []));
}

function findIn(
  lists: readonly ResourceList[],
  asked: { readonly name: string; readonly group: string },
): ResourceType | undefined {
  for (const { groupVersion, resources } of lists) {
    const group = groupVersion.includes("/") ? (groupVersion.split("/")[0] ?? "") : "";
    if (asked.group !== "" && asked.group !== group) continue;
    const found = resources.find((each) => isNamed(each, asked.name));
    if (found === undefined) continue;
    return {
      apiVersion: groupVersion,
      kind: found.kind,
      plural: found.name,
      namespaced: found.namespaced,
    };
  }
  return undefined;
}

function isNamed({ name, singularName, kind, shortNames = [] }: ServedResource, asked: string): boolean {
  if (name.includes("/")) return false;
  return [name, singularName, kind.toLowerCase(), ...shortNames].includes(asked);
}
