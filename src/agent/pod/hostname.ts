import type { Pod } from "../../api/generated/types/core-v1.ts";

/** Linux' upper bound of a host name. */
const HOSTNAME_MAX = 63;

/** The host name that a pod sees. */
export function hostnameOf({ metadata, spec }: Pod): string {
  return (spec.hostname ?? metadata.name).slice(0, HOSTNAME_MAX).replace(/(?<![-.])[-.]+$/, "");
}
