/**
 * Restricts status writes of ResourceClaims. An allocation requires `resourceclaims/binding`; the status of a device
 * requires `resourceclaims/driver` for its driver. In upstream this is a rule of the kind, so no option disables it.
 * It is a plugin here because rules of kinds have no authorizer.
 */
import { invalid } from "../../../../api/errors/api-error.ts";
import { FieldErrors } from "../../../../api/errors/field-error.ts";
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  ResourceClaim,
  ResourceClaimStatus,
} from "../../../../api/generated/types/resource-v1.ts";
import { jsonEqual } from "../../../../api/patch/json-equal.ts";
import { deviceKey, deallocatedDevices } from "../../../../resources/device/allocated-devices.ts";
import type { ApiObject } from "../../../../resources/rules/kind-rules.ts";
import { accessRefusal } from "../../../access/authz/authorization.ts";
import type { AccessAttributes, Authorizer } from "../../../access/authz/authorizer.ts";
import { isAllowed, question } from "../../permission.ts";
import { definePlugin } from "../../plugin.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../../plugin.ts";

const GROUP = "resource.k8s.io";
const ACCOUNT_PREFIX = "system:serviceaccount:";
const NODE_NAME = "authentication.kubernetes.io/node-name";

export function claimPermissions(authorizer: Authorizer): AdmissionPlugin {
  return definePlugin<ResourceClaim>({
    name: "ResourceClaimPermissions",
    interests: [{ resources: [`resourceclaims.${GROUP}/status`], operations: ["UPDATE"] }],

    validateLater(object, request) {
      const demands = object === undefined ? [] : demandsOf(object, request);
      return demands.length === 0 ? undefined : insist(demands, object as ApiObject, authorizer);
    },
  });
}

/** One of the questions must be allowed. */
interface Demand {
  readonly path: string;
  readonly what: string;
  readonly questions: readonly AccessAttributes[];
}

function demandsOf({ status }: ResourceClaim, request: AdmissionRequest): readonly Demand[] {
  const { status: before } = request.previous as ResourceClaim;
  return [...bindingDemands(status, before, request), ...driverDemands(status, before, request)];
}

/** Asked for all namespaces, because devices belong to no namespace. */
function bindingDemands(
  { allocation, reservedFor = [] }: ResourceClaimStatus,
  before: ResourceClaimStatus,
  { user, verb }: AdmissionRequest,
): readonly Demand[] {
  const isSame = jsonEqual(allocation, before.allocation) && jsonEqual(reservedFor, before.reservedFor ?? []);
  if (isSame) return [];
  const what = `changing status.allocation or status.reservedFor requires resource="resourceclaims/binding", verb="${verb}" permission`;
  const place = { group: GROUP, version: "*", resource: "resourceclaims", subresource: "binding" };
  return [{ path: "status", what, questions: [question(user, { verb, ...place })] }];
}

function driverDemands(
  status: ResourceClaimStatus,
  before: ResourceClaimStatus,
  { user, verb, namespace }: AdmissionRequest,
): readonly Demand[] {
  const [node = "", ...others] = user.name.startsWith(ACCOUNT_PREFIX) ? (user.extra[NODE_NAME] ?? []) : [];
  const isNear = others.length === 0 && isFor(status.allocation, node);
  const verbs = [...(isNear ? [`associated-node:${verb}`] : []), `arbitrary-node:${verb}`];
  const what = `changing status.devices requires resource="resourceclaims/driver", verb="[${verbs.join(" ")}]" permission`;
  const place = { group: GROUP, version: "*", resource: "resourceclaims", subresource: "driver", namespace };
  return changedDrivers(status, before).map((name) => ({
    path: "status.devices",
    what,
    questions: verbs.map((each) => question(user, { verb: each, ...place, name })),
  }));
}

/** Drivers of devices whose status changed. A status that is removed together with its allocation does not count. */
function changedDrivers(status: ResourceClaimStatus, before: ResourceClaimStatus): readonly string[] {
  const [now, then] = [status, before].map(byKey) as [DeviceStatuses, DeviceStatuses];
  const gone = deallocatedDevices(status, before);
  const changed = [...now.keys(), ...then.keys()].flatMap((key) => {
    const [next, previous] = [now.get(key), then.get(key)];
    const isGone = next === undefined && previous !== undefined && gone.has(deviceKey(previous));
    return isGone || jsonEqual(next, previous) ? [] : [(next ?? previous)?.driver ?? ""];
  });
  return [...new Set(changed)].toSorted();
}

type DeviceStatuses = ReadonlyMap<string, AllocatedDeviceStatus>;

function byKey({ devices = [] }: ResourceClaimStatus): DeviceStatuses {
  return new Map(devices.map((device) => [`${deviceKey(device)} ${device.shareID ?? ""}`, device]));
}

/** Whether only that node can use the devices. */
function isFor(allocation: AllocationResult | undefined, node: string): boolean {
  const matchFields = [{ key: "metadata.name", operator: "In", values: [node] }];
  return jsonEqual(allocation?.nodeSelector, { nodeSelectorTerms: [{ matchFields }] });
}

async function insist(demands: readonly Demand[], object: ApiObject, authorizer: Authorizer): Promise<void> {
  const errors = new FieldErrors();
  for (const { path, what, questions } of demands) {
    const refusals: string[] = [];
    for (const asked of questions) {
      const decision = await authorizer.decide(asked);
      if (isAllowed(decision)) break;
      refusals.push(
        accessRefusal(asked, [decision.error, decision.reason].filter(Boolean).join(": ")).message,
      );
    }
    if (refusals.length === questions.length) errors.forbidden(path, `${what}: ${refusals[0] ?? ""}`);
  }
  const { kind, metadata } = object;
  if (!errors.isEmpty) throw invalid({ group: GROUP, kind }, metadata.name ?? "", errors.found);
}
