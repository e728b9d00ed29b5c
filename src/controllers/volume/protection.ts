/**
 * Keeps claims that pods use, and volumes that claims have, from going before their users do.
 *
 * Two loops: one for PersistentVolumeClaims, which reads Pods, and one for PersistentVolumes. Each puts a finalizer on every object and takes it off
 * one that is deleted and no longer in use.
 */
import { PersistentVolume, PersistentVolumeClaim, Pod } from "../../api/generated/types/core-v1.ts";
import { isTerminal } from "../../resources/pod/pod-state.ts";
import { defineController, indexing, watching } from "../../runtime/controller.ts";
import type { CacheReader } from "../../runtime/controller.ts";

const CLAIM_FINALIZER = "kubernetes.io/pvc-protection";
const VOLUME_FINALIZER = "kubernetes.io/pv-protection";
/** Pods by the claims they name. */
const BY_CLAIM = "claim";
/** The end of a user is seen by its event; this is only for a server that forgot to send one. */
const RECHECK_MS = 300_000;

export const claimProtectionController = defineController({
  name: "pvc-protection-controller",
  for: PersistentVolumeClaim,
  finalizer: CLAIM_FINALIZER,
  indexes: [indexing(Pod, BY_CLAIM, claimsOf)],
  watches: [
    watching(Pod, function* ({ before, after }) {
      // Only a pod that ends, or is gone, lets go of anything.
      if (before === undefined || (after !== undefined && !isTerminal(after))) return;
      for (const key of claimsOf(before)) {
        const [namespace, name = ""] = key.split("/");
        yield { namespace, name };
      }
    }),
  ],
  reconcile: () => Promise.resolve(),
  finalize: ({ metadata: { namespace = "", name } }, { cache }) => {
    const isUsed = usersOf(`${namespace}/${name}`, cache).length > 0;
    return Promise.resolve(isUsed ? { recheckAfterMs: RECHECK_MS, timer: "periodic" } : undefined);
  },
});

export const volumeProtectionController = defineController({
  name: "pv-protection-controller",
  for: PersistentVolume,
  finalizer: VOLUME_FINALIZER,
  reconcile: () => Promise.resolve(),
  finalize: ({ status }) =>
    Promise.resolve(status.phase === "Bound" ? { recheckAfterMs: RECHECK_MS, timer: "periodic" } : undefined),
});

function usersOf(claim: string, cache: CacheReader): readonly Pod[] {
  return cache(Pod)
    .indexed(BY_CLAIM, claim)
    .filter((pod) => !isTerminal(pod));
}

/** Claims that pods bring along (ephemeral volumes) are named after pod and volume. */
function claimsOf({ metadata, spec }: Pod): readonly string[] {
  const { namespace = "", name: podName } = metadata;
  return (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return [`${namespace}/${persistentVolumeClaim.claimName}`];
    return ephemeral === undefined ? [] : [`${namespace}/${podName}-${name}`];
  });
}
