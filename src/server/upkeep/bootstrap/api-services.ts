import type { APIService } from "../../../api/generated/types/apiregistration-v1.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import type { GroupVersionFacts } from "../../../api/schema/resource-facts.ts";
import { timeText } from "../../../api/values/time.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { Registry, StoredResource } from "../../objects/registry.ts";
import { requireStored } from "../../objects/registry.ts";
import type { RequiredObjects, RequiredObject } from "../required-objects.ts";

const AVAILABLE = {
  message: "Local APIServices are always available",
  reason: "Local",
  status: "True",
  type: "Available",
};
const LABEL = "kube-aggregator.kubernetes.io/automanaged";
const ON_START = "onstart";
const LABELS = { [LABEL]: ON_START };

/** One APIService for each group version that this server serves. Those of versions no longer served are deleted. */
export function apiServices(registry: Registry, loop: Loop): RequiredObjects {
  const resource = requireStored(registry, "apiregistration.k8s.io", "apiservices");
  const builtIn = new Set(registry.builtInVersions);
  const objects = registry.localVersions.flatMap((groupVersion) =>
    kept(groupVersion, { resource, loop, isBuiltIn: builtIn.has(groupVersion) }),
  );
  const names = new Set(objects.map(({ name }) => name));
  const isObsolete = ({ metadata }: ApiObject): boolean =>
    metadata.labels?.[LABEL] === ON_START && !names.has(metadata.name ?? "");
  return {
    name: "registration of served versions",
    boot: ["poststarthook/kube-apiserver-autoregistration", "autoregister-completion"],
    objects,
    obsolete: { resource, isObsolete },
  };
}

interface Parts {
  readonly resource: StoredResource;
  readonly loop: Loop;
  /** Whether the version is built in. Users may let another server serve a version of custom resources. */
  readonly isBuiltIn: boolean;
}

/** The aggregator's own group has no priority, and no APIService. */
function kept(
  groupVersion: GroupVersionFacts,
  { resource, loop, isBuiltIn }: Parts,
): readonly RequiredObject[] {
  const { group, version, order } = groupVersion;
  if (order === undefined) return [];
  const [groupPriorityMinimum, versionPriority] = order;
  const isTakenOver = (live: ApiObject): boolean =>
    !isBuiltIn && (live as APIService).spec.service !== undefined;
  const spec = { ...(group !== "" && { group }), groupPriorityMinimum, version, versionPriority };
  const name = `${version}.${group}`;
  return [
    {
      resource,
      namespace: "",
      name,
      manifest: () => ({ metadata: { labels: LABELS }, spec }),
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
  const condition = { lastTransitionTime: now, ...AVAILABLE };
  const others = conditions.filter(({ type }) => type !== "Available");
  return { ...live, status: { ...status, conditions: [...others, condition] } };
}
