/** The resource of a manifest, and the namespace it goes to. */
import type { ResourceType } from "../../api/api-object.ts";
import { findText } from "../command.ts";
import type { FileManifest } from "./manifest-files.ts";
import type { VerbSession } from "./verb-session.ts";

export interface PlacedManifest {
  readonly type: ResourceType;
  /** Has the namespace that it goes to. */
  readonly manifest: FileManifest;
}

/** Throws when the server serves no such kind, or when `--namespace` names another namespace than the manifest. */
export async function placeManifest(
  manifest: FileManifest,
  { client, namespace, args }: VerbSession,
): Promise<PlacedManifest> {
  const { apiVersion, kind, metadata } = manifest;
  const type = await client.findType(apiVersion, kind);
  if (type === undefined)
    throw new Error(
      `no matches for kind "${kind}" in version "${apiVersion}": apply its CustomResourceDefinition first`,
    );
  if (!type.namespaced) return { type, manifest };
  const given = findText(args, "namespace");
  const own = metadata.namespace;
  if (given !== undefined && own !== undefined && given !== own)
    throw new Error(
      `the namespace from the provided object "${own}" does not match the namespace "${given}": pass --namespace=${own}`,
    );
  return {
    type,
    manifest: { ...manifest, metadata: { ...metadata, namespace: own ?? namespace ?? "default" } },
  };
}
