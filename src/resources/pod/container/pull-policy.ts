import { findImageReference } from "../../../api/values/image-reference.ts";

/** `Always` for the tag `latest`, stated or meant. A reference that cannot be read has no tag, as upstream. */
export function defaultPullPolicy(image: string): "Always" | "IfNotPresent" {
  return findImageReference(image)?.tag === "latest" ? "Always" : "IfNotPresent";
}
