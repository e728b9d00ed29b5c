/** StorageVersion: the version in which each API server of a cluster stores a resource. */

import type { StorageVersion } from "../../api/generated/types/apiserverinternal-v1alpha1.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { ALL_METADATA } from "../rules/metadata-parts.ts";

/** Upper bound of the servers shown by name; the rest is shown as a count. */
const SHOWN_MAX = 3;

export const storageVersion = defineKind<StorageVersion>(
  "internal.apiserver.k8s.io/v1alpha1",
  "StorageVersion",
  {
    statusKeeps: ALL_METADATA,
    cells: (it, now) => [
      it.metadata.name,
      it.status.commonEncodingVersion || "<unset>",
      serversText(it),
      ageText(it, now),
    ],
  },
);

function serversText({ status }: StorageVersion): string {
  const servers = (status.storageVersions ?? []).map(
    ({ apiServerID = "", encodingVersion = "" }) => `${apiServerID}=${encodingVersion}`,
  );
  const more = servers.length > SHOWN_MAX ? ` + ${String(servers.length - SHOWN_MAX)} more...` : "";
  return servers.length === 0 ? "<unset>" : servers.slice(0, SHOWN_MAX).join(",") + more;
}
