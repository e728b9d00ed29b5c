import type { APIService } from "../../api/generated/types/apiregistration-v1.ts";
import type { JsonObject } from "../../api/json-object.ts";
import type { GroupVersionFacts } from "../../api/resource-facts.ts";
import type { Loop } from "../../base/loop.ts";
import type { ApiObject } from "../../resources/kind-rules.ts";
import type { Registry, StoredResource } from "../registry.ts";
import { requireStored } from "../registry.ts";
import { timeText } from "../write/system-metadata.ts";
import type { Chore, KeptObject } from "./chore.ts";

const LABEL = "kube-aggregator.kubernetes.io/automanaged";
const ON_START = "onstart";

/** One for each group version that this server serves itself; those of versions that it no longer serves go. */
export function apiServices(registry: Registry, loop: Loop): Chore {
  const resource = requireStored(registry, "apiregistration.k8s.io", "apiservices");
  const builtIn = new Set(registry.builtInVersions);
  const objects = registry.localVersions.flatMap((groupVersion) =>
    kept(groupVersion, { resource, loop, isBuiltIn: builtIn.has(groupVersion) }),
  );
  const names = new Set(objects.map(({ name }) => name));
  const isStray = ({ metadata }: ApiObject): boolean =>
    metadata.labels?.[LABEL] === ON_START && !names.has(metadata.name ?? "");
  return { name: "registration of served versions", objects, strays: { resource, isStray } };
}

interface Parts {
  readonly resource: StoredResource;
  readonly loop: Loop;
  /** Whether it is served here whatever users want: others they may have served by a server of their own. */
  readonly isBuiltIn: boolean;
}

/** The group in which these are registered has none of its own. */
function kept(
  { group, version, order }: GroupVersionFacts,
  { resource, loop, isBuiltIn }: Parts,
): readonly KeptObject[] {
  if (order === undefined) return [];
  const [groupPriorityMinimum, versionPriority] = order;
  const isTakenOver = (live: ApiObject): boolean =>
    !isBuiltIn && (live as APIService).spec.service !== undefined;
  const spec = { ...(group !== "" && { group }), version, groupPriorityMinimum, versionPriority };
  return [
    {
      resource,
      namespace: "",
      name: `${version}.${group}`,
      manifest: () => ({ metadata: { labels: { [LABEL]: ON_START } }, spec }),
      corrected: (live) => {
        if (isTakenOver(live)) return { ...live };
        const labels = { ...live.metadata.labels, [LABEL]: ON_START };
        return { ...live, metadata: { ...live.metadata, labels }, spec };
      },
      correctedStatus: (live) => (isTakenOver(live) ? { ...live } : available(live, timeText(loop.now()))),
    },
  ];
}

function available(live: ApiObject, now: string): JsonObject {
  const { status } = live as APIService;
  const conditions = status.conditions ?? [];
  if (conditions.some(({ type, status: is }) => type === "Available" && is === "True")) return { ...live };
  const condition = {
    type: "Available",
    status: "True",
    reason: "Local",
    message: "Local APIServices are always available",
    lastTransitionTime: now,
  };
  const others = conditions.filter(({ type }) => type !== "Available");
  return { ...live, status: { ...status, conditions: [...others, condition] } };
}
