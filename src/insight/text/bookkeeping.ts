/** Annotations that controllers write for themselves: they state no wish, and are no step of a story. */
import type { ShownFieldChange } from "../../api/causes/change.ts";
import { isJsonObject } from "../../api/json/json-object.ts";

const ANNOTATIONS = "metadata.annotations";
const NOTES: ReadonlySet<string> = new Set([
  "deployment.kubernetes.io/desired-replicas",
  "deployment.kubernetes.io/max-replicas",
  "deployment.kubernetes.io/revision",
  "deployment.kubernetes.io/revision-history",
  "endpoints.kubernetes.io/last-change-trigger-time",
  "node.alpha.kubernetes.io/ttl",
  "pv.kubernetes.io/bind-completed",
  "pv.kubernetes.io/bound-by-controller",
  "volume.beta.kubernetes.io/storage-provisioner",
  "volume.kubernetes.io/storage-provisioner",
]);

/** Whether the field is such a note, or all annotations where these are nothing but notes. */
export function isBookkeeping({ path, before, after }: ShownFieldChange): boolean {
  if (path === ANNOTATIONS) return [before, after].every(areNotes);
  return path.startsWith(`${ANNOTATIONS}[`) && NOTES.has(path.slice(ANNOTATIONS.length + 1, -1));
}

function areNotes(annotations: unknown): boolean {
  if (annotations === undefined) return true;
  return isJsonObject(annotations) && Object.keys(annotations).every((name) => NOTES.has(name));
}
