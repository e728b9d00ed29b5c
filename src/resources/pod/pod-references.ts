/** Lists the objects that a node must read for a pod or a volume of it. */
import type { Container, PersistentVolume, Pod, Volume } from "../../api/generated/types/core-v1.ts";

const MIRROR = "kubernetes.io/config.mirror";

/** Object in the pod's namespace: `secrets/NAME`, `configmaps/NAME` … */
type Reference = `${ReferencedResource}/${string}`;

export type ReferencedResource =
  | "secrets"
  | "configmaps"
  | "persistentvolumeclaims"
  | "serviceaccounts"
  | "resourceclaims";

const known = new WeakMap<Pod, ReadonlySet<string>>();

/** Cached: returns the same set for the same object. */
export function podReferences(pod: Pod): ReadonlySet<string> {
  const found = known.get(pod) ?? new Set<string>(referencesOf(pod));
  known.set(pod, found);
  return found;
}

function referencesOf(pod: Pod): readonly Reference[] {
  const { metadata, spec, status } = pod;
  // Nodes create mirror pods themselves, so that a mirror pod grants its node no access.
  if (metadata.annotations?.[MIRROR] !== undefined) return [];
  const { serviceAccountName, imagePullSecrets = [], volumes = [] } = spec;
  const claims = [
    ...(status?.resourceClaimStatuses ?? []).map(({ resourceClaimName }) => resourceClaimName),
    ...(spec.resourceClaims ?? []).map(({ resourceClaimName }) => resourceClaimName),
    status?.extendedResourceClaimStatus?.resourceClaimName,
  ];
  return [
    ...named("serviceaccounts", serviceAccountName),
    ...imagePullSecrets.flatMap(({ name }) => named("secrets", name)),
    ...containersOf(pod).flatMap(containerReferences),
    ...volumes.flatMap((volume) => volumeReferences(volume, metadata.name)),
    ...claims.flatMap((name) => named("resourceclaims", name)),
  ];
}

type ContainerParts = Pick<Container, "env" | "envFrom">;

function containersOf({ spec }: Pod): readonly ContainerParts[] {
  return [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])];
}

function containerReferences({ env = [], envFrom = [] }: ContainerParts): readonly Reference[] {
  return [
    ...env.flatMap(({ valueFrom }) => [
      ...named("secrets", valueFrom?.secretKeyRef?.name),
      ...named("configmaps", valueFrom?.configMapKeyRef?.name),
    ]),
    ...envFrom.flatMap(({ secretRef, configMapRef }) => [
      ...named("secrets", secretRef?.name),
      ...named("configmaps", configMapRef?.name),
    ]),
  ];
}

function volumeReferences(volume: Volume, pod: string): readonly Reference[] {
  const { projected, ephemeral } = volume;
  const claim = ephemeral === undefined ? volume.persistentVolumeClaim?.claimName : `${pod}-${volume.name}`;
  return [
    ...named("persistentvolumeclaims", claim),
    ...named("configmaps", volume.configMap?.name),
    ...volumeSecrets(volume).flatMap((name) => named("secrets", name)),
    ...(projected?.sources ?? []).flatMap(({ secret, configMap }) => [
      ...named("secrets", secret?.name),
      ...named("configmaps", configMap?.name),
    ]),
  ];
}

/** Volume types that keep the secret's name in `secretRef`. */
const WITH_SECRET_REF = ["cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos"] as const;

function volumeSecrets(volume: Volume): readonly (string | undefined)[] {
  return [
    volume.secret?.secretName,
    volume.azureFile?.secretName,
    volume.csi?.nodePublishSecretRef?.name,
    ...WITH_SECRET_REF.map((type) => volume[type]?.secretRef?.name),
  ];
}

function named(resource: ReferencedResource, name: string | undefined): readonly Reference[] {
  return name === undefined || name === "" ? [] : [`${resource}/${name}`];
}

/**
 * `NAMESPACE/NAME` of the Secrets that a node needs for a volume. Secrets of a driver's controller are
 * excluded.
 */
export function volumeSecretPlaces({ spec }: PersistentVolume): readonly string[] {
  const { claimRef, csi, azureFile } = spec;
  const home = claimRef?.namespace ?? "";
  const references = [
    ...WITH_SECRET_REF.map((type) => spec[type]?.secretRef),
    csi?.nodePublishSecretRef,
    csi?.nodeStageSecretRef,
    csi?.nodeExpandSecretRef,
    { name: azureFile?.secretName, namespace: azureFile?.secretNamespace },
  ];
  return references.flatMap((reference) => placeIn(home, reference?.namespace, reference?.name));
}

function placeIn(home: string, namespace = "", name = ""): readonly string[] {
  return name === "" ? [] : [`${namespace === "" ? home : namespace}/${name}`];
}
