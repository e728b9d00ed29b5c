/** Reads and scales an autoscaler's target: any object with a scale subresource, custom resources included. */
import type { ResourceType } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import type { Scale } from "../../api/generated/types/autoscaling-v1.ts";
import type { HorizontalPodAutoscaler } from "../../api/generated/types/autoscaling-v2.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import type { Client } from "../../client/client.ts";

export type ScaleTarget =
  | {
      readonly type: "found";
      readonly resource: ResourceType;
      readonly scale: Scale;
      readonly specReplicas: number;
      readonly statusReplicas: number;
      /** Label selector in text form; empty if the target has none. */
      readonly selector: string;
    }
  | { readonly type: "missing"; readonly message: string };

export async function readTarget(hpa: HorizontalPodAutoscaler, client: Client): Promise<ScaleTarget> {
  const { apiVersion = "v1", kind, name } = hpa.spec.scaleTargetRef;
  const { namespace = "" } = hpa.metadata;
  try {
    const resource = await findServed(apiVersion, kind, client);
    if (resource === undefined) return { type: "missing", message: noMatch(apiVersion, kind) };
    const scale = await client(resource).subresource("scale").get({ namespace, name });
    return foundTarget(resource, scale);
  } catch (error) {
    if (!isApiError(error)) throw error;
    return { type: "missing", message: error.message };
  }
}

/** The scale's resourceVersion guards the write: a concurrent change makes it fail with a conflict. */
export async function rescale(
  { resource, scale }: Extract<ScaleTarget, { readonly type: "found" }>,
  replicas: number,
  client: Client,
): Promise<void> {
  const { namespace = "", name } = scale.metadata;
  const body = { ...scale, spec: { ...scale.spec, replicas } };
  await client(resource).subresource("scale").update({ namespace, name }, body);
}

/** Prefers the version in `apiVersion`, then the group's other served versions. */
async function findServed(
  apiVersion: string,
  kind: string,
  client: Client,
): Promise<ResourceType | undefined> {
  const named = await client.findType(apiVersion, kind);
  const slash = apiVersion.indexOf("/");
  if (named !== undefined || slash < 0) return named;
  const group = await client.request({ path: `/apis/${encodeURIComponent(apiVersion.slice(0, slash))}` });
  const versions = isJsonObject(group) && Array.isArray(group["versions"]) ? group["versions"] : [];
  for (const version of versions.filter(isJsonObject)) {
    const found = await client.findType(String(version["groupVersion"]), kind);
    if (found !== undefined) return found;
  }
  return undefined;
}

function foundTarget(resource: ResourceType, value: unknown): ScaleTarget {
  if (!isJsonObject(value))
    return { type: "missing", message: "the server's response is not a Scale object" };
  const scale = value as Scale;
  const { spec = {}, status } = scale as Partial<Scale>;
  return {
    type: "found",
    resource,
    scale,
    specReplicas: spec.replicas ?? 0,
    statusReplicas: status?.replicas ?? 0,
    selector: status?.selector ?? "",
  };
}

function noMatch(apiVersion: string, kind: string): string {
  const slash = apiVersion.indexOf("/");
  const group = slash < 0 ? "" : apiVersion.slice(0, slash);
  return `no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(group)}`;
}
