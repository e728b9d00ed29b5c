/**
 * Allocates addresses and node ports to Services in the Service's own transaction. So no allocation leaks and none is
 * given twice, whatever fails and on any number of servers.
 */
import type { Service } from "../../../api/generated/types/core-v1.ts";
import { cloneJson } from "../../../api/json/json-clone.ts";
import { jsonEqual } from "../../../api/patch/json-equal.ts";
import { toNormalForm } from "../../../api/schema/normal-form.ts";
import type { Loop } from "../../../base/loop/loop.ts";
import type { ApiObject, Draft } from "../../../resources/rules/kind-rules.ts";
import type { Store } from "../../../store/store.ts";
import { requireStored } from "../../objects/registry.ts";
import type { Registry } from "../../objects/registry.ts";
import type { Versions } from "../../objects/versions.ts";
import { AddressClaims } from "./address-claim.ts";
import { addressesOf, claimAddresses, joined, releaseAddresses } from "./cluster-addresses.ts";
import type { Changes } from "./cluster-addresses.ts";
import type { Companion, CompanionPlan, ObjectChange } from "./companion.ts";
import { claimPorts, hasPorts } from "./node-ports.ts";
import { PortAllocation, portsOf } from "./port-allocation.ts";
import type { PortRange } from "./port-allocation.ts";

export interface AllocationParts {
  readonly loop: Loop;
  readonly store: Store;
  readonly registry: Registry;
  readonly versions: Versions;
  readonly nodePorts: PortRange;
}

export function serviceCompanion(parts: AllocationParts): Companion {
  const { loop, store, registry, nodePorts } = parts;
  const claims = new AddressClaims(parts);
  const { schema } = requireStored(registry, "", "services");
  const addressRandom = loop.random("service-addresses");
  const portRandom = loop.random("node-ports");
  const allocate = ({ previous, next }: ObjectChange<Service>): CompanionPlan => {
    const view = store.accepted;
    const addressParts = { view, claims, random: addressRandom };
    if (next === undefined) {
      const released =
        previous === undefined ? NONE : releaseAddresses(previous, addressesOf(previous), addressParts);
      return { object: undefined, ...joined(released, releasedPorts(previous)) };
    }
    if (previous !== undefined && jsonEqual(previous.spec, next.spec)) return { object: next, ...NONE };
    const draft = cloneJson(next) as Draft<Service>;
    const addresses = claimAddresses(draft, previous, addressParts);
    const ports = claimedPorts(draft, previous);
    const object = toNormalForm(schema, draft).value as ApiObject;
    return { object, ...joined(addresses, ports) };
  };
  const claimedPorts = (draft: Draft<Service>, previous: Service | undefined): Changes => {
    if (!hasPorts(draft) && !hasPorts(previous)) return NONE;
    const allocation = PortAllocation.open(store.accepted, nodePorts);
    claimPorts(draft, previous, { allocation, random: portRandom });
    return allocation.changes();
  };
  const releasedPorts = (previous: Service | undefined): Changes => {
    if (!hasPorts(previous)) return NONE;
    const allocation = PortAllocation.open(store.accepted, nodePorts);
    for (const port of portsOf(previous)) allocation.release(port);
    return allocation.changes();
  };
  return {
    kinds: { prefix: "services/specs" },
    plan: ({ change }) => allocate(change as ObjectChange<Service>),
  };
}

const NONE: Changes = { compare: [], changes: [] };
