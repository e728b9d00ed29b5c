/** Builds the allocation in a claim's status: devices, driver configuration and node selector. */

import type { NodeSelector, NodeSelectorRequirement } from "../../../api/generated/types/core-v1.ts";
import type {
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceRequestAllocationResult,
  ResourceClaim,
} from "../../../api/generated/types/resource-v1.ts";
import { formatQuantity } from "../../../api/values/quantity.ts";
import { isSame } from "../../../resources/rules/value-rules.ts";
import type { Choice } from "./chosen-devices.ts";

export interface ResultContext {
  readonly nodeName: string;
  /** Returns a new id for a share of a device. */
  readonly shareId: () => string;
}

/** `choices` are this claim's choices in the order of its requests. */
export function allocationResult(
  claim: ResourceClaim,
  choices: readonly Choice[],
  { nodeName, shareId }: ResultContext,
): AllocationResult {
  const config = [...classConfig(choices), ...claimConfig(claim, choices)];
  const nodeSelector = selectorOf(choices, nodeName);
  return {
    devices: {
      results: choices.map((choice) => resultOf(choice, shareId)),
      ...(config.length > 0 && { config }),
    },
    ...(nodeSelector !== undefined && { nodeSelector }),
  };
}

function resultOf(
  { alternative, device, consumed }: Choice,
  shareId: () => string,
): DeviceRequestAllocationResult {
  const { bindingConditions = [], bindingFailureConditions = [], name } = device.device;
  const { tolerations, isAdmin } = alternative;
  return {
    request: alternative.name,
    driver: device.driver,
    pool: device.pool,
    device: name,
    ...(isAdmin && { adminAccess: true }),
    ...(tolerations.length > 0 && { tolerations }),
    ...(bindingConditions.length > 0 && { bindingConditions }),
    ...(bindingFailureConditions.length > 0 && { bindingFailureConditions }),
    ...(consumed !== undefined && { shareID: shareId() }),
    ...(consumed !== undefined &&
      consumed.size > 0 && {
        consumedCapacity: Object.fromEntries(
          [...consumed].map(([capacity, amount]) => [capacity, formatQuantity(amount)]),
        ),
      }),
  };
}

/** Each class contributes its configuration once, for all requests of the class. */
function classConfig(choices: readonly Choice[]): readonly DeviceAllocationConfiguration[] {
  const chosen = [...new Set(choices.map(({ alternative }) => alternative))];
  const classes = [...new Set(chosen.map(({ deviceClass }) => deviceClass))];
  return classes.flatMap((deviceClass) => {
    const requests = chosen.filter((it) => it.deviceClass === deviceClass).map(({ name }) => name);
    const { config = [] } = deviceClass.spec;
    return config.map((each) => ({ ...each, source: "FromClass" as const, requests }));
  });
}

/**
 * As upstream, a configuration for several requests appears once per request. Configurations for unchosen alternatives only are left out.
 */
function claimConfig(
  { spec }: ResourceClaim,
  choices: readonly Choice[],
): readonly DeviceAllocationConfiguration[] {
  const { requests, config = [] } = spec.devices;
  const chosen = new Map(choices.map(({ alternative: { name, requestName } }) => [requestName, name]));
  return config.flatMap((each) => {
    const told = { ...each, source: "FromClaim" as const };
    const named = each.requests ?? [];
    if (named.length === 0) return [told];
    const isSelected = (name: string): boolean =>
      named.includes(name) || named.includes(chosen.get(name) ?? "");
    return requests.filter(({ name }) => isSelected(name)).map(() => told);
  });
}

/** Undefined if the devices are usable on every node. */
function selectorOf(choices: readonly Choice[], nodeName: string): NodeSelector | undefined {
  const fields: NodeSelectorRequirement[] = [];
  const expressions: NodeSelectorRequirement[] = [];
  for (const { device, slice } of choices.map((choice) => choice.device)) {
    const reach = slice.spec.perDeviceNodeSelection === true ? device : slice.spec;
    if ((reach.nodeName ?? "") !== "" || device.bindsToNode === true) return onlyNode(nodeName);
    const [term] = reach.nodeSelector?.nodeSelectorTerms ?? [];
    addNew(fields, term?.matchFields);
    addNew(expressions, term?.matchExpressions);
  }
  return oneTerm(expressions, fields);
}

function oneTerm(
  expressions: readonly NodeSelectorRequirement[],
  fields: readonly NodeSelectorRequirement[],
): NodeSelector | undefined {
  if (fields.length + expressions.length === 0) return undefined;
  const matchExpressions = expressions.length > 0 && { matchExpressions: expressions };
  const matchFields = fields.length > 0 && { matchFields: fields };
  return { nodeSelectorTerms: [{ ...matchExpressions, ...matchFields }] };
}

function onlyNode(nodeName: string): NodeSelector {
  return {
    nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [nodeName] }] }],
  };
}

function addNew(
  known: NodeSelectorRequirement[],
  added: readonly NodeSelectorRequirement[] | undefined,
): void {
  for (const each of added ?? []) if (!known.some((it) => isSame(it, each))) known.push(each);
}
