/**
 * Prevents a node from reading objects through mirror pods: they must not reference service accounts, secrets or
 * tokens.
 */
import type { Pod, PodSpec, Volume } from "../../../../api/generated/types/core-v1.ts";
import { containersOf } from "./pod-containers.ts";

export function mirrorPodProblem({ spec }: Pod): string | undefined {
  if ((spec.serviceAccountName ?? "") !== "") return "a mirror pod may not reference service accounts";
  if (namesSecret(spec)) return "a mirror pod may not reference secrets";
  const sources = (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  return sources.some(({ serviceAccountToken }) => serviceAccountToken !== undefined)
    ? "a mirror pod may not use ServiceAccountToken volume projections"
    : undefined;
}

export function namesSecret(spec: PodSpec): boolean {
  return (
    (spec.imagePullSecrets ?? []).length > 0 ||
    (spec.volumes ?? []).some(volumeNamesSecret) ||
    containersOf(spec).some(
      ({ env = [], envFrom = [] }) =>
        env.some(({ valueFrom }) => valueFrom?.secretKeyRef !== undefined) ||
        envFrom.some(({ secretRef }) => secretRef !== undefined),
    )
  );
}

function volumeNamesSecret(volume: Volume): boolean {
  const { azureFile, cephfs, cinder, csi, flexVolume, iscsi, rbd, scaleIO, storageos, projected } = volume;
  const references = [
    volume.secret,
    azureFile,
    cephfs?.secretRef,
    cinder?.secretRef,
    csi?.nodePublishSecretRef,
    flexVolume?.secretRef,
    iscsi?.secretRef,
    rbd?.secretRef,
    scaleIO?.secretRef,
    storageos?.secretRef,
  ];
  return (
    references.some((reference) => reference !== undefined) ||
    (projected?.sources ?? []).some(({ secret }) => secret !== undefined)
  );
}
