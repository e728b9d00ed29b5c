/**
 * Creates the PersistentVolumeClaim of each generic ephemeral volume of a pod.
 *
 * Reads Pods and PersistentVolumeClaims. The pod controls the claims, so that they are deleted with it. An existing claim of the same name
 * with another owner is never taken over; an event on the pod reports it.
 */
import type { Manifest } from "../../api/api-object.ts";
import { PersistentVolumeClaim, Pod } from "../../api/generated/types/core-v1.ts";
import type { Volume } from "../../api/generated/types/core-v1.ts";
import { errorText } from "../../base/error-text.ts";
import { isActive } from "../../resources/pod/pod-state.ts";
import { defineController, indexing, watching } from "../../runtime/controller/controller.ts";
import type { ReconcileContext } from "../../runtime/controller/controller.ts";
import type { RecordedEvent } from "../../runtime/events/recorded-event.ts";
import { isControlledBy, ownerReferenceTo } from "../../runtime/refs/owner-reference.ts";

/** Index of pods by the claims of their ephemeral volumes. */
const BY_CLAIM = "ephemeral-claim";

export const ephemeralVolumeController = defineController({
  name: "ephemeral-volume-controller",
  for: Pod,
  indexes: [indexing(Pod, BY_CLAIM, claimKeysOf)],
  watches: [
    // Also the deletion of another owner's claim frees the name.
    watching(PersistentVolumeClaim, ({ before, after }, cache) => {
      const claim = before ?? after;
      if (claim === undefined || after !== undefined) return [];
      const { namespace = "", name } = claim.metadata;
      return cache(Pod)
        .indexed(BY_CLAIM, `${namespace}/${name}`)
        .map(({ metadata }) => ({ namespace, name: metadata.name }));
    }),
  ],
  when: ({ after }) => after !== undefined && ephemeralVolumes(after).length > 0,
  reconcile,
});

async function reconcile(pod: Pod, context: ReconcileContext): Promise<void> {
  if (!isActive(pod)) return;
  const { taken, absent } = planClaims(pod, (name) => {
    const { namespace = "" } = pod.metadata;
    return context.cache(PersistentVolumeClaim).find({ namespace, name });
  });
  for (const { volume, claim } of taken) {
    const message = `PVC ${placeOf(claim)} was not created for pod ${placeOf(pod)} (pod is not owner)`;
    context.event(pod, failedBinding(volume, message));
  }
  for (const volume of absent) await createClaim(pod, volume, context);
}

interface ClaimPlan {
  /** Volumes whose claim has another owner. */
  readonly taken: readonly { readonly volume: string; readonly claim: PersistentVolumeClaim }[];
  /** Volumes without a claim. */
  readonly absent: readonly Volume[];
}

function planClaims(pod: Pod, find: (name: string) => PersistentVolumeClaim | undefined): ClaimPlan {
  const volumes = ephemeralVolumes(pod).map((volume) => ({ volume, claim: find(claimName(pod, volume)) }));
  return {
    taken: volumes.flatMap(({ volume, claim }) =>
      claim === undefined || isControlledBy(claim, pod) ? [] : [{ volume: volume.name, claim }],
    ),
    absent: volumes.flatMap(({ volume, claim }) => (claim === undefined ? [volume] : [])),
  };
}

async function createClaim(pod: Pod, volume: Volume, context: ReconcileContext): Promise<void> {
  try {
    await context.client(PersistentVolumeClaim).create(claimManifest(pod, volume));
  } catch (error) {
    if (context.signal.aborted) throw error;
    const why = errorText(error);
    context.event(pod, failedBinding(volume.name, `create PVC ${claimName(pod, volume)}: ${why}`));
    throw error;
  }
}

function failedBinding(volume: string, message: string): RecordedEvent {
  return { type: "Warning", reason: "FailedBinding", message: `ephemeral volume ${volume}: ${message}` };
}

function placeOf({ metadata }: Pod | PersistentVolumeClaim): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}

function claimManifest(pod: Pod, volume: Volume): Manifest<PersistentVolumeClaim> {
  const { metadata = {}, spec = {} } = volume.ephemeral?.volumeClaimTemplate ?? {};
  const { labels, annotations } = metadata;
  const { namespace = "" } = pod.metadata;
  return {
    metadata: {
      name: claimName(pod, volume),
      namespace,
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
      ownerReferences: [ownerReferenceTo(pod)],
    },
    spec,
  };
}

function claimName({ metadata }: Pod, { name }: Volume): string {
  return `${metadata.name}-${name}`;
}

function claimKeysOf(pod: Pod): readonly string[] {
  const { namespace = "" } = pod.metadata;
  return ephemeralVolumes(pod).map((volume) => `${namespace}/${claimName(pod, volume)}`);
}

const NONE: readonly Volume[] = [];

function ephemeralVolumes({ spec: { volumes } }: Pod): readonly Volume[] {
  return volumes?.filter(({ ephemeral }) => ephemeral?.volumeClaimTemplate !== undefined) ?? NONE;
}
