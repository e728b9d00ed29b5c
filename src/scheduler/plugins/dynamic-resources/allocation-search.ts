/**
 * Finds devices on one node for all claims of a pod by backtracking over requests and devices.
 *
 * Devices are tried in a fixed order, so equal input gives equal results. The first solution wins.
 */

import type { ResourceClaim } from "../../../api/generated/types/resource-v1.ts";
import type { Quantity } from "../../../api/values/quantity.ts";
import { toleratesDeviceTaint } from "../../../resources/device/device-toleration.ts";
import { AllocationTimeout } from "./allocation-timeout.ts";
import { AttributeConstraint } from "./attribute-constraint.ts";
import { type Choice, ChosenDevices } from "./chosen-devices.ts";
import { type Alternative, claimKey, type ClaimRequest } from "./claim-requests.ts";
import { consumedCapacity, hasCapacityLeft } from "./device-capacity.ts";
import type { DevicePools, NodeDevices, PoolDevice } from "./device-pools.ts";
import type { DeviceMatcher } from "./device-selectors.ts";
import type { DevicesInUse } from "./devices-in-use.ts";
import { countersOf, type PoolCounters } from "./pool-counters.ts";

/** Input that is the same for all nodes. */
export interface SearchScope {
  readonly claims: readonly ResourceClaim[];
  readonly requests: readonly ClaimRequest[];
  readonly pools: DevicePools;
  readonly inUse: DevicesInUse;
  readonly counters: PoolCounters;
  readonly matcher: DeviceMatcher;
}

/** Upper bound of devices in one claim, set by the API. */
const RESULTS_MAX = 32;

export class AllocationSearch {
  readonly #scope: SearchScope;
  readonly #on: NodeDevices;
  readonly #constraints: readonly (readonly AttributeConstraint[])[];
  readonly #chosen = new ChosenDevices();
  /** Devices of requests with mode All, computed before the search. */
  readonly #all = new Map<Alternative, readonly PoolDevice[]>();
  /** Capacity that requests take of devices, independent of other users. */
  readonly #amounts = new Map<Alternative, Map<PoolDevice, Amounts | undefined>>();
  /** Device checks left before the search is given up. */
  #stepsLeft: number;

  constructor(scope: SearchScope, on: NodeDevices, steps: number) {
    this.#scope = scope;
    this.#on = on;
    this.#stepsLeft = steps;
    this.#constraints = scope.claims.map(({ spec }) =>
      (spec.devices.constraints ?? []).map((constraint) => new AttributeConstraint(constraint)),
    );
  }

  get stepsLeft(): number {
    return Math.max(0, this.#stepsLeft);
  }

  /** Undefined if there is no solution. Throws upstream's message if a claim, class or pool is invalid. */
  run(): readonly Choice[] | undefined {
    for (const { alternatives } of this.#scope.requests) {
      for (const each of alternatives) if (each.count === "all") this.#all.set(each, this.#findAll(each));
    }
    for (const [claimIndex, claim] of this.#scope.claims.entries()) this.#checkCount(claim, claimIndex);
    return this.#fulfil(0) ? this.#chosen.all : undefined;
  }

  #findAll(alternative: Alternative): readonly PoolDevice[] {
    const { incomplete, invalid, devices } = this.#on;
    const asks = `claim ${alternative.claimKey}, request ${alternative.name}: asks for all devices, but resource pool`;
    if (incomplete !== undefined) throw new Error(`${asks} ${incomplete} is currently being updated`);
    if (invalid !== undefined) throw new Error(`${asks} ${invalid} is currently invalid`);
    // A shared device with too little capacity left is skipped. A device in exclusive use is not, and fails the request.
    return devices.filter((device) => {
      this.#step();
      return this.#isSelected(alternative, device) && this.#findCapacity(alternative, device) !== undefined;
    });
  }

  #checkCount(claim: ResourceClaim, claimIndex: number): void {
    const own = this.#scope.requests.filter((request) => request.claimIndex === claimIndex);
    const least = own.reduce(
      (sum, request) => sum + Math.min(...request.alternatives.map((it) => this.#countOf(it))),
      0,
    );
    if (least <= RESULTS_MAX) return;
    throw new Error(
      `claim ${claimKey(claim)}: number of requested devices ${String(least)} exceeds the claim limit of ${String(RESULTS_MAX)}`,
    );
  }

  #countOf(alternative: Alternative): number {
    return alternative.count === "all" ? (this.#all.get(alternative)?.length ?? 0) : alternative.count;
  }

  #fulfil(index: number): boolean {
    const request = this.#scope.requests[index];
    if (request === undefined) return true;
    const held = this.#chosen.all.filter(({ claimIndex }) => claimIndex === request.claimIndex).length;
    return request.alternatives.some((alternative) => {
      const count = this.#countOf(alternative);
      if (count === 0 || held + count > RESULTS_MAX) return false;
      const next = (): boolean => this.#fulfil(index + 1);
      const { claimIndex } = request;
      return alternative.count === "all"
        ? this.#takeAll({ claimIndex, alternative, count, next })
        : this.#takeSome({ claimIndex, alternative, count, next }, 0);
    });
  }

  /** Takes all devices or none. */
  #takeAll({ claimIndex, alternative, next }: Task): boolean {
    const before = this.#chosen.all.length;
    for (const device of this.#all.get(alternative) ?? []) {
      this.#step();
      if (this.#take({ claimIndex, alternative, device })) continue;
      this.#giveBack(before);
      return false;
    }
    if (next()) return true;
    this.#giveBack(before);
    return false;
  }

  /** Devices of one request are taken in ascending order only: permutations are not tried. */
  #takeSome(task: Task, from: number): boolean {
    const { claimIndex, alternative, count, next } = task;
    if (count === 0) return next();
    const { devices } = this.#on;
    const before = this.#chosen.all.length;
    for (let at = from; at < devices.length; at++) {
      const device = devices[at];
      if (device === undefined) break;
      this.#step();
      if (this.#isTaken({ claimIndex, alternative, device }) || !this.#isSelected(alternative, device))
        continue;
      if (!this.#take({ claimIndex, alternative, device })) continue;
      if (this.#takeSome({ ...task, count: count - 1 }, at + 1)) return true;
      this.#giveBack(before);
    }
    return false;
  }

  #step(): void {
    if (this.#stepsLeft-- === 0) throw new AllocationTimeout();
  }

  #isSelected({ deviceClass, selectors, claimKey: key }: Alternative, device: PoolDevice): boolean {
    const { matcher } = this.#scope;
    const ofClass = deviceClass.spec.selectors ?? [];
    return (
      matcher.match(ofClass, device, `class ${deviceClass.metadata.name}`) &&
      matcher.match(selectors, device, `claim ${key}`)
    );
  }

  #isTaken({ claimIndex, alternative, device }: Candidate): boolean {
    const own = this.#chosen.of(device).filter(({ consumed }) => consumed === undefined);
    if (alternative.isAdmin) return own.some((it) => it.claimIndex === claimIndex);
    return own.length > 0 || this.#scope.inUse.isTaken(device.key);
  }

  /** Returns true if the device is available, and records it as chosen. */
  #take(candidate: Candidate): boolean {
    const { claimIndex, alternative, device } = candidate;
    if (this.#isTaken(candidate)) return false;
    const consumed = this.#findCapacity(alternative, device);
    if (consumed === undefined || !this.#hasCounters(device) || isRepelling(device, alternative))
      return false;
    if (!this.#agree(candidate)) return false;
    const isShared = device.device.allowMultipleAllocations === true;
    this.#chosen.add({ claimIndex, alternative, device, consumed: isShared ? consumed : undefined });
    return true;
  }

  /** Capacity that the request takes of the device; undefined if not enough is left. */
  #findCapacity(alternative: Alternative, device: PoolDevice): Amounts | undefined {
    const consumed = this.#amountsOf(alternative, device);
    if (consumed === undefined || consumed.size === 0) return consumed;
    const chosen = this.#chosen.of(device).map((it) => nanosOf(it.consumed));
    const taken = [this.#scope.inUse.capacityOf(device.key), ...chosen];
    return hasCapacityLeft(device.device, consumed, taken) ? consumed : undefined;
  }

  #amountsOf(alternative: Alternative, device: PoolDevice): Amounts | undefined {
    const known = this.#amounts.get(alternative) ?? new Map<PoolDevice, Amounts | undefined>();
    this.#amounts.set(alternative, known);
    if (!known.has(device)) known.set(device, consumedCapacity(device.device, alternative.capacity));
    return known.get(device);
  }

  #hasCounters(device: PoolDevice): boolean {
    if ((device.device.consumesCounters ?? []).length === 0) return true;
    const { counters, inUse } = this.#scope;
    // Further shares of a device consume no additional counters.
    const isCounted =
      inUse.capacityOf(device.key) !== undefined ||
      this.#chosen.of(device).some(({ consumed }) => consumed !== undefined);
    if (isCounted) return true;
    const left = counters.left(device);
    for (const [key, amount] of countersOf(device)) {
      if (this.#chosen.counterOf(key) + amount > (left.get(key) ?? 0n)) return false;
    }
    return true;
  }

  #agree({ claimIndex, alternative, device }: Candidate): boolean {
    const constraints = this.#constraints[claimIndex] ?? [];
    const against = constraints.findIndex((constraint) => !constraint.add(alternative, device));
    if (against === -1) return true;
    for (const constraint of constraints.slice(0, against)) constraint.remove(alternative);
    if (alternative.count !== "all") return false;
    const { claimKey: key, name } = alternative;
    throw new Error(
      `claim ${key}, request ${name}: cannot add device ${device.key} because a claim constraint would not be satisfied`,
    );
  }

  #giveBack(length: number): void {
    for (let last = this.#chosen.removeLast(length); last; last = this.#chosen.removeLast(length)) {
      for (const constraint of this.#constraints[last.claimIndex] ?? []) constraint.remove(last.alternative);
    }
  }
}

interface Task {
  readonly claimIndex: number;
  readonly alternative: Alternative;
  readonly count: number;
  /** Continues with the next request. */
  readonly next: () => boolean;
}

type Candidate = Pick<Choice, "claimIndex" | "alternative" | "device">;
type Amounts = ReadonlyMap<string, Quantity>;

function nanosOf(consumed: Amounts | undefined): ReadonlyMap<string, bigint> | undefined {
  return consumed && new Map([...consumed].map(([name, { nano }]) => [name, nano]));
}

/** The device has a taint that the request does not tolerate. */
function isRepelling({ device }: PoolDevice, { tolerations }: Alternative): boolean {
  return (device.taints ?? []).some(
    (taint) =>
      (taint.effect === "NoSchedule" || taint.effect === "NoExecute") &&
      !tolerations.some((toleration) => toleratesDeviceTaint(toleration, taint)),
  );
}
