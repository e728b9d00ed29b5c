/**
 * Decides how to reclaim a volume whose claim is gone, as upstream's in-tree plugins do. Pure.
 *
 * Host paths below /tmp can be deleted; host paths and NFS shares can be recycled (emptied).
 */
import type { Manifest } from "../../api/api-object.ts";
import type { PersistentVolume, Pod } from "../../api/generated/types/core-v1.ts";
import { wholeNumber } from "../../resources/pod/resource-number.ts";
import { HOST_PATH_PROVISIONER, PROVISIONED_BY } from "./annotations.ts";

export const RECYCLER_NAMESPACE = "default";
const RECYCLER = "recycler-for-";
/** Annotation of volumes that a CSI driver manages now. */
const MIGRATED_TO = "pv.kubernetes.io/migrated-to";
const IN_TREE = "kubernetes.io/";
const DELETABLE = /\/tmp\/.+/;
const GIBIBYTE = 1024 ** 3;
/** Upstream's defaults: minimum seconds, and seconds per gibibyte. */
const RECYCLING = { hostPath: { least: 60, more: 30 }, nfs: { least: 300, more: 30 } };

export type Reclaim =
  /** The volume stays, or another component reclaims it. */
  | { readonly type: "none" }
  | { readonly type: "delete" }
  | { readonly type: "recycle"; readonly pod: Manifest<Pod> }
  | { readonly type: "fail"; readonly reason: string; readonly message: string };

export function planReclaim(volume: PersistentVolume): Reclaim {
  const { annotations = {} } = volume.metadata;
  const { persistentVolumeReclaimPolicy: policy } = volume.spec;
  if ((annotations[MIGRATED_TO] ?? "") !== "") return { type: "none" };
  if (policy === "Recycle") return planRecycling(volume);
  if (policy !== "Delete") return { type: "none" };
  const maker = annotations[PROVISIONED_BY] ?? "";
  const fault = maker === "" ? findFault(volume) : findMakersFault(maker, volume);
  if (fault === "not ours") return { type: "none" };
  return fault === undefined ? { type: "delete" } : failed("VolumeFailedDelete", fault);
}

/** Name of the volume that this recycler pod empties; undefined for other pods. */
export function recycledVolume({ metadata }: Pod): string | undefined {
  const isRecycler = metadata.namespace === RECYCLER_NAMESPACE && metadata.name.startsWith(RECYCLER);
  return isRecycler ? metadata.name.slice(RECYCLER.length) : undefined;
}

export function recyclerName(volume: PersistentVolume): string {
  return `${RECYCLER}${volume.metadata.name}`;
}

/** Error of a failed recycler pod; undefined if it runs or succeeded. */
export function recyclerFault({ status }: Pod): string | undefined {
  if (status.phase !== "Failed") return undefined;
  return status.message ?? "pod failed, pod.Status.Message unknown";
}

function findMakersFault(maker: string, volume: PersistentVolume): string | undefined {
  if (maker === HOST_PATH_PROVISIONER) return undefined;
  if (!maker.startsWith(IN_TREE)) return "not ours";
  if (maker === "kubernetes.io/host-path") return findPathFault(volume);
  if (maker === "kubernetes.io/nfs") return "no deletable volume plugin matched";
  return `no volume plugin matched name: ${maker}`;
}

function findFault(volume: PersistentVolume): string | undefined {
  if (volume.spec.hostPath !== undefined) return findPathFault(volume);
  const why =
    volume.spec.nfs === undefined ? "no volume plugin matched" : "no deletable volume plugin matched";
  return `error getting deleter volume plugin for volume "${volume.metadata.name}": ${why}`;
}

function findPathFault({ spec }: PersistentVolume): string | undefined {
  const { path = "" } = spec.hostPath ?? {};
  return DELETABLE.test(path)
    ? undefined
    : `host_path deleter only supports /tmp/.+ but received provided ${path}`;
}

function failed(reason: string, message: string): Reclaim {
  return { type: "fail", reason, message };
}

function planRecycling(volume: PersistentVolume): Reclaim {
  const { hostPath, nfs, capacity = {} } = volume.spec;
  if (hostPath === undefined && nfs === undefined)
    return failed("VolumeFailedRecycle", "No recycler plugin found for the volume!");
  const { least, more } = hostPath === undefined ? RECYCLING.nfs : RECYCLING.hostPath;
  const size = Math.floor(wholeNumber(capacity["storage"] ?? "0") / GIBIBYTE);
  const source = hostPath === undefined ? { nfs } : { hostPath };
  const script = 'test -e /scrub && find /scrub -mindepth 1 -delete && test -z "$(ls -A /scrub)" || exit 1';
  return {
    type: "recycle",
    pod: {
      metadata: {
        name: recyclerName(volume),
        namespace: RECYCLER_NAMESPACE,
      },
      spec: {
        activeDeadlineSeconds: Math.max(least, more * size),
        restartPolicy: "Never",
        volumes: [{ name: "vol", ...source }],
        containers: [
          {
            name: "pv-recycler",
            image: "registry.k8s.io/build-image/debian-base:bookworm-v1.0.4",
            command: ["/bin/sh"],
            args: ["-c", script],
            volumeMounts: [{ name: "vol", mountPath: "/scrub" }],
          },
        ],
      },
    },
  };
}
