import type { ServiceCIDR } from "../../../api/generated/types/networking-v1.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { timeText } from "../../../api/values/time.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import type { ApiObject } from "../../../resources/rules/kind-rules.ts";
import type { Registry } from "../../objects/registry.ts";
import { requireStored } from "../../objects/registry.ts";
import { DEFAULT_SERVICE_CIDR } from "../../write/companions/service-cidrs.ts";
import type { RequiredObjects } from "../required-objects.ts";

export interface ServiceCidrParts {
  readonly registry: Registry;
  readonly loop: Loop;
  /** One range for each address family, the default first. Used for a new cluster only: an old cluster keeps its ranges. */
  readonly cidrs: readonly string[];
}

/** The ServiceCIDR object with the ranges of the cluster's Services. */
export function defaultServiceCidr({ registry, loop, cidrs }: ServiceCidrParts): RequiredObjects {
  return {
    name: "default service range",
    boot: ["poststarthook/start-kubernetes-service-cidr-controller"],
    objects: [
      {
        resource: requireStored(registry, "networking.k8s.io", "servicecidrs"),
        namespace: "",
        name: DEFAULT_SERVICE_CIDR,
        manifest: () => ({ spec: { cidrs } }),
        corrected: (live) => withSecondFamily(live, cidrs),
        correctedStatus: (live) => markedReady(live, timeText(loop.now())),
      },
    ],
  };
}

/** A second address family may be added. The first stays, because Services have addresses from it. */
function withSecondFamily(live: ApiObject, cidrs: readonly string[]): JsonObject {
  const { spec } = live as ServiceCIDR;
  const [only, ...others] = spec.cidrs ?? [];
  const isUpgrade = others.length === 0 && cidrs.length === 2 && only === cidrs[0];
  return isUpgrade ? { ...live, spec: { ...spec, cidrs } } : { ...live };
}

function markedReady(live: ApiObject, now: string): JsonObject {
  const { status } = live as ServiceCIDR;
  const conditions = status.conditions ?? [];
  if (conditions.some(({ type, status: is }) => type === "Ready" && is === "True")) return { ...live };
  const ready = {
    type: "Ready",
    status: "True",
    reason: "",
    message: "the server allocates addresses from this range",
    lastTransitionTime: now,
  };
  return {
    ...live,
    status: { ...status, conditions: [...conditions.filter(({ type }) => type !== "Ready"), ready] },
  };
}
