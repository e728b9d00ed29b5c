/** How the agent sets up each kind of volume. Pure. */
import type { Pod, Volume, VolumeProjection } from "../../api/generated/types/core-v1.ts";

export type VolumeKind =
  /** Files from the API, which are replaced together. */
  | { readonly type: "files"; readonly sources: readonly VolumeProjection[]; readonly mode: number }
  | { readonly type: "empty"; readonly isMemory: boolean; readonly sizeLimit: string | undefined }
  | { readonly type: "host"; readonly path: string; readonly pathType: string | undefined }
  | { readonly type: "claim"; readonly claim: string; readonly readOnly: boolean }
  | { readonly type: "unsupported"; readonly source: string };

const DEFAULT_MODE = 0o644;

export function kindOf(pod: Pod, volume: Volume): VolumeKind {
  const { configMap, secret, downwardAPI, projected, emptyDir, hostPath } = volume;
  const files = (mode: number | undefined, ...sources: readonly VolumeProjection[]): VolumeKind => ({
    type: "files",
    sources,
    mode: mode ?? DEFAULT_MODE,
  });
  if (configMap !== undefined) return files(configMap.defaultMode, { configMap });
  if (secret !== undefined) {
    const { secretName = "", defaultMode, ...form } = secret;
    return files(defaultMode, { secret: { ...form, name: secretName } });
  }
  if (downwardAPI !== undefined) return files(downwardAPI.defaultMode, { downwardAPI });
  if (projected !== undefined) return files(projected.defaultMode, ...projected.sources);
  if (emptyDir !== undefined)
    return { type: "empty", isMemory: emptyDir.medium === "Memory", sizeLimit: emptyDir.sizeLimit };
  if (hostPath !== undefined) return { type: "host", path: hostPath.path, pathType: hostPath.type };
  return claimKind(pod, volume);
}

function claimKind({ metadata }: Pod, volume: Volume): VolumeKind {
  const { name, persistentVolumeClaim: claim, ephemeral } = volume;
  if (claim !== undefined)
    return { type: "claim", claim: claim.claimName, readOnly: claim.readOnly ?? false };
  // The name of the claim that a controller makes for an ephemeral volume.
  if (ephemeral !== undefined) return { type: "claim", claim: `${metadata.name}-${name}`, readOnly: false };
  const source = Object.keys(volume).find((key) => key !== "name") ?? "none";
  return { type: "unsupported", source };
}

/** Volumes that a container mounts; the kubelet does not set up others. */
export function mountedVolumes({ spec }: Pod): readonly Volume[] {
  const { volumes = [], containers, initContainers = [], ephemeralContainers = [] } = spec;
  const all = [...containers, ...initContainers, ...ephemeralContainers];
  const names = new Set(all.flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name)));
  return volumes.filter(({ name }) => names.has(name));
}
