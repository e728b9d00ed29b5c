/** Index values that find the volumes for a claim among any number of others. */
import type { PersistentVolume, PersistentVolumeClaim } from "../../api/generated/types/core-v1.ts";
import { storageClassOf } from "./claim-class.ts";

/** A free volume is found by its class, a taken or reserved one by its claim. */
export function candidateValues(volume: PersistentVolume): readonly string[] {
  const { claimRef } = volume.spec;
  if (claimRef === undefined) return [`class ${storageClassOf(volume)}`];
  return [`claim ${claimRef.namespace ?? ""}/${claimRef.name ?? ""}`];
}

/** All volumes that the claim may get: those that name it, and the free ones of its class. */
export function volumeCandidates(
  claim: PersistentVolumeClaim,
  find: (value: string) => readonly PersistentVolume[],
): readonly PersistentVolume[] {
  const { namespace = "", name } = claim.metadata;
  return [...find(`claim ${namespace}/${name}`), ...find(`class ${storageClassOf(claim)}`)];
}
