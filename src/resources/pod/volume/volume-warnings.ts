/** Warnings about valid but doubtful volumes, in pods and in PersistentVolumes. */

import type { FieldPath } from "../../../api/errors/field-error.ts";
import type {
  PersistentVolumeClaimSpec,
  PersistentVolumeSpec,
  Volume,
  VolumeProjection,
} from "../../../api/generated/types/core-v1.ts";
import { quoted } from "../../../api/values/message-text.ts";
import { byteWarnings } from "../../rules/resource-amount.ts";

const DEPRECATED_SOURCES = {
  photonPersistentDisk: "deprecated in v1.11, non-functional in v1.16+",
  gitRepo: "deprecated in v1.11, and disabled by default in v1.33+",
  scaleIO: "deprecated in v1.16, non-functional in v1.22+",
  flocker: "deprecated in v1.22, non-functional in v1.25+",
  storageos: "deprecated in v1.22, non-functional in v1.25+",
  quobyte: "deprecated in v1.22, non-functional in v1.25+",
  glusterfs: "deprecated in v1.25, non-functional in v1.26+",
  cephfs: "deprecated in v1.28, non-functional in v1.31+",
  rbd: "deprecated in v1.28, non-functional in v1.31+",
} as const;

type SourceType = keyof typeof DEPRECATED_SOURCES;

const POD_SOURCES = Object.keys(DEPRECATED_SOURCES) as SourceType[];
const CLUSTER_SOURCES: readonly SourceType[] = [
  "cephfs",
  "photonPersistentDisk",
  "scaleIO",
  "storageos",
  "glusterfs",
  "rbd",
];

/** Deprecated and removed storage types. */
export function sourceWarnings(volume: Volume, path: FieldPath): readonly string[] {
  return deprecatedSources(volume, POD_SOURCES, path);
}

export function clusterSourceWarnings(spec: PersistentVolumeSpec, path: FieldPath): readonly string[] {
  return deprecatedSources(spec, CLUSTER_SOURCES, path);
}

function deprecatedSources(volume: object, types: readonly SourceType[], path: FieldPath): readonly string[] {
  return types
    .filter((type) => Object.hasOwn(volume, type))
    .map((type) => {
      const at = path.child(type === "storageos" ? "storageOS" : type);
      return `${at.toString()}: ${DEPRECATED_SOURCES[type]}`;
    });
}

export function claimWarnings({ resources }: PersistentVolumeClaimSpec, path: FieldPath): readonly string[] {
  const at = path.child("resources");
  return [
    ...byteWarnings(resources.requests, "storage", at.child("requests")),
    ...byteWarnings(resources.limits, "storage", at.child("limits")),
  ];
}

/** Upper bounds: further overlaps and deeper folders are not reported. */
const OVERLAPS_MAX = 64;
const DEPTH_MAX = 64;

/** A file in a volume, and the source that provides it when there are several. */
interface PlacedFile {
  readonly path: string;
  readonly source: string;
}

/** Warns about files with equal paths, and about a file whose path is a folder of another. */
export function volumePathWarnings(volume: Volume): readonly string[] {
  const { name, configMap, secret, downwardAPI, projected } = volume;
  return [
    ...overlaps(
      filesOf(configMap?.items),
      `volume ${quoted(name)} (ConfigMap ${quoted(configMap?.name ?? "")})`,
    ),
    ...overlaps(
      filesOf(secret?.items),
      `volume ${quoted(name)} (Secret ${quoted(secret?.secretName ?? "")})`,
    ),
    ...overlaps(filesOf(downwardAPI?.items), `volume ${quoted(name)} (DownwardAPI)`),
    ...(projected?.sources ?? [])
      .filter((source) => Object.keys(source).length === 0)
      .map(() => `volume ${quoted(name)} (Projected) has no sources provided`),
    ...overlaps((projected?.sources ?? []).flatMap(projectedFiles), `volume ${quoted(name)} (Projected)`),
  ];
}

function projectedFiles(projection: VolumeProjection): readonly PlacedFile[] {
  const { configMap, secret, downwardAPI } = projection;
  return [
    ...filesOf(configMap?.items, ` (ConfigMap ${quoted(configMap?.name ?? "")})`),
    ...filesOf(secret?.items, ` (Secret ${quoted(secret?.name ?? "")})`),
    ...filesOf(downwardAPI?.items, " (DownwardAPI)"),
    ...singleFiles(projection),
  ];
}

function singleFiles({ serviceAccountToken, clusterTrustBundle }: VolumeProjection): readonly PlacedFile[] {
  const { name, signerName = "" } = clusterTrustBundle ?? {};
  return [
    ...filesOf(serviceAccountToken && [serviceAccountToken], " (ServiceAccountToken)"),
    ...filesOf(
      clusterTrustBundle && [clusterTrustBundle],
      ` (ClusterTrustBundle ${quoted(name ?? signerName)})`,
    ),
  ];
}

function filesOf(items: readonly { readonly path: string }[] = [], source = ""): readonly PlacedFile[] {
  return items.map(({ path }) => ({ path, source }));
}

/**
 * Finds overlaps through maps keyed by path: comparing all pairs would delay other requests when there are
 * thousands.
 */
function overlaps(files: readonly PlacedFile[], where: string): readonly string[] {
  const named = new Map<string, PlacedFile[]>();
  const within = new Map<string, PlacedFile[]>();
  const found: string[] = [];
  for (const file of files) {
    const path = withoutEndSlashes(file.path);
    const folders = foldersOf(path);
    if (path === "" || folders.length > DEPTH_MAX) continue;
    const others = [...[...folders, path].flatMap((at) => named.get(at) ?? []), ...(within.get(path) ?? [])];
    for (const other of others) {
      if (found.length === OVERLAPS_MAX) return found;
      found.push(`${where}: overlapping paths: ${fileText(file)} with ${fileText(other)}`);
    }
    add(named, path, file);
    for (const folder of folders) add(within, folder, file);
  }
  return found;
}

function withoutEndSlashes(path: string): string {
  let end = path.length;
  while (path.charAt(end - 1) === "/") end -= 1;
  return path.slice(0, end);
}

function foldersOf(path: string): readonly string[] {
  const names = path.split("/", DEPTH_MAX + 2);
  return names.slice(1).map((_, i) => names.slice(0, i + 1).join("/"));
}

function add(files: Map<string, PlacedFile[]>, at: string, file: PlacedFile): void {
  const there = files.get(at);
  if (there === undefined) files.set(at, [file]);
  else there.push(file);
}

function fileText({ path, source }: PlacedFile): string {
  return `${quoted(path)}${source}`;
}
