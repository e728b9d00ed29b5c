/**
 * Creates volumes for claims of the built-in provisioner: folders of a node, so that claims work on a fresh cluster.
 *
 * Reads PersistentVolumeClaims and StorageClasses; creates PersistentVolumes. A volume's name contains the claim's uid, so that a claim
 * never gets two.
 */
import type { Manifest } from "../../api/api-object.ts";
import { isApiError } from "../../api/errors/api-error.ts";
import { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/types/core-v1.ts";
import { StorageClass } from "../../api/generated/types/storage-v1.ts";
import { storageClassOf } from "../../resources/storage/claim-class.ts";
import { defineController } from "../../runtime/controller/controller.ts";
import type { Controller, Outcome, ReconcileContext } from "../../runtime/controller/controller.ts";
import { HOST_PATH_PROVISIONER, PROVISIONED_BY, SELECTED_NODE, STORAGE_PROVISIONER } from "./annotations.ts";

/** `folder` holds the volumes on their nodes. */
export function hostPathProvisioner(folder: string): Controller {
  return defineController({
    name: "host-path-provisioner",
    for: PersistentVolumeClaim,
    reads: [StorageClass],
    when: ({ after }) => after?.metadata.annotations?.[STORAGE_PROVISIONER] === HOST_PATH_PROVISIONER,
    reconcile: (claim, context) => reconcile(claim, context, folder),
  });
}

async function reconcile(
  claim: PersistentVolumeClaim,
  context: ReconcileContext,
  folder: string,
): Promise<Outcome> {
  const { metadata, spec } = claim;
  const isAsked = metadata.annotations?.[STORAGE_PROVISIONER] === HOST_PATH_PROVISIONER;
  const isOpen = (spec.volumeName ?? "") === "" && metadata.deletionTimestamp === undefined;
  const storageClass = context.cache(StorageClass).find({ name: storageClassOf(claim) });
  if (!isAsked || !isOpen || storageClass === undefined) return;
  try {
    const { metadata: made } = await context
      .client(PersistentVolume)
      .create(volumeFor(claim, storageClass, folder));
    const message = `Successfully provisioned volume ${made.name}`;
    context.event(claim, { type: "Normal", reason: "ProvisioningSucceeded", message });
  } catch (error) {
    if (!isApiError(error, "AlreadyExists")) throw error;
  }
}

function volumeFor(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  folder: string,
): Manifest<PersistentVolume> {
  const { namespace = "", name: claimName, uid, resourceVersion, annotations } = claim.metadata;
  const { accessModes = [], volumeMode, resources } = claim.spec;
  const name = `pvc-${uid}`;
  const node = annotations?.[SELECTED_NODE];
  return {
    metadata: { name, annotations: { [PROVISIONED_BY]: HOST_PATH_PROVISIONER } },
    spec: {
      capacity: { storage: resources.requests?.["storage"] ?? "0" },
      accessModes,
      ...(volumeMode !== undefined && { volumeMode }),
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? "Delete",
      storageClassName: storageClass.metadata.name,
      ...(storageClass.mountOptions !== undefined && { mountOptions: storageClass.mountOptions }),
      hostPath: { path: `${folder}/${name}`, type: "DirectoryOrCreate" },
      claimRef: {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        namespace,
        name: claimName,
        uid,
        resourceVersion,
      },
      ...(node !== undefined && { nodeAffinity: { required: { nodeSelectorTerms: [onNode(node)] } } }),
    },
  };
}

function onNode(name: string) {
  const expression = { key: "kubernetes.io/hostname", operator: "In", values: [name] } as const;
  return { matchExpressions: [expression] };
}
