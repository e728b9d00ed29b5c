/** Allocates the cluster IPs of a Service: the requested ones, or free ones, one for each IP family. */
import { internalError, invalid } from "../../../api/errors/api-error.ts";
import { FieldErrors } from "../../../api/errors/field-error.ts";
import type { Service } from "../../../api/generated/types/core-v1.ts";
import { findIpAddress, ipAddressText } from "../../../api/values/ip-address.ts";
import type { IpAddress } from "../../../api/values/ip-address.ts";
import type { Random } from "../../../base/loop/loop.ts";
import type { Draft } from "../../../resources/rules/kind-rules.ts";
import { resolveIpFamilies } from "../../../resources/service/service-families.ts";
import type { IpFamily } from "../../../resources/service/service-families.ts";
import { isHeadless, needsClusterIp } from "../../../resources/service/service-shape.ts";
import type { Change, Compare, View } from "../../../store/store.ts";
import { isClaimOf } from "./address-claim.ts";
import type { AddressClaims } from "./address-claim.ts";
import { familiesOf, rangesText, serviceRanges } from "./service-cidrs.ts";
import type { ServiceRange } from "./service-cidrs.ts";

export interface AddressParts {
  readonly view: View;
  readonly claims: AddressClaims;
  readonly random: Random;
}

export interface Changes {
  readonly compare: readonly Compare[];
  readonly changes: readonly Change[];
}

/** Fills in `ipFamilies` and `clusterIPs` of the draft; returns the changes to write with it. */
export function claimAddresses(
  draft: Draft<Service>,
  previous: Service | undefined,
  parts: AddressParts,
): Changes {
  const ranges = serviceRanges(parts.view);
  const errors = new FieldErrors();
  resolveIpFamilies(draft, { cluster: familiesOf(ranges), previous, errors });
  if (!errors.isEmpty) throw invalid({ group: "", kind: "Service" }, draft.metadata.name, errors.found);
  const claimed = addressesOf(previous);
  const kept = new Set(claimed.map(ipAddressText));
  const picker = new AddressPicker(draft, { ranges, kept, parts });
  if (needsClusterIp(draft.spec) && !isHeadless(draft)) picker.fillIn(draft);
  const now = new Set(addressesOf(draft).map(ipAddressText));
  const gone = claimed.filter((address) => !now.has(ipAddressText(address)));
  return joined(picker, releaseAddresses(draft, gone, parts));
}

/** Cluster IPs of the Service; empty for a headless Service and for ExternalName. */
export function addressesOf(service: Service | undefined): readonly IpAddress[] {
  if (service === undefined || !needsClusterIp(service.spec)) return [];
  return (service.spec.clusterIPs ?? []).flatMap((text) => findIpAddress(text) ?? []);
}

/** Releases only the addresses that are allocated to this Service. */
export function releaseAddresses(
  service: Service,
  addresses: readonly IpAddress[],
  { view, claims }: AddressParts,
): Changes {
  const compare: Compare[] = [];
  const changes: Change[] = [];
  for (const address of addresses) {
    const entry = claims.find(view, address);
    if (entry === undefined || !isClaimOf(entry, service)) continue;
    compare.push({ key: entry.key, modRevision: entry.modRevision });
    changes.push({ type: "delete", key: entry.key });
  }
  return { compare, changes };
}

export function joined(...parts: readonly Changes[]): Changes {
  return {
    compare: parts.flatMap(({ compare }) => compare),
    changes: parts.flatMap(({ changes }) => changes),
  };
}

interface Choice {
  readonly ranges: readonly ServiceRange[];
  /** Addresses that the Service had before; they need no new allocation. */
  readonly kept: ReadonlySet<string>;
  readonly parts: AddressParts;
}

class AddressPicker implements Changes {
  readonly compare: Compare[] = [];
  readonly changes: Change[] = [];
  readonly #service: Service;
  readonly #choice: Choice;

  constructor(service: Service, choice: Choice) {
    this.#service = service;
    this.#choice = choice;
  }

  fillIn({ spec }: Draft<Service>): void {
    if (this.#choice.ranges.length === 0) throw fullError();
    const asked = spec.clusterIPs ?? [];
    const chosen: string[] = [];
    for (const [i, family] of (spec.ipFamilies ?? []).entries()) {
      const text = asked[i];
      const address = text === undefined ? this.#free(family as IpFamily) : this.#asked(text);
      // A requested address keeps the spelling of the client.
      chosen.push(text ?? ipAddressText(address));
    }
    spec.clusterIPs = chosen;
    if (chosen[0] !== undefined) spec.clusterIP = chosen[0];
  }

  #asked(text: string): IpAddress {
    const { kept, ranges, parts } = this.#choice;
    const address = findIpAddress(text);
    if (address === undefined) throw this.#refusal(text, "provided IP is not valid");
    if (kept.has(ipAddressText(address))) return address;
    if (!ranges.some(({ addresses }) => addresses.contains(address))) {
      const range = rangesText(ranges, address.family);
      throw this.#refusal(
        text,
        `the provided IP (${text}) is not in the valid range. The range of valid IPs is ${range}`,
      );
    }
    const entry = parts.claims.find(parts.view, address);
    if (entry === undefined) this.#claim(address);
    else if (!isClaimOf(entry, this.#service)) throw this.#refusal(text, "provided IP is already allocated");
    return address;
  }

  #free(family: IpFamily): IpAddress {
    const { ranges, parts } = this.#choice;
    for (const { addresses } of ranges) {
      if (addresses.family !== family) continue;
      const found = addresses.findFree(
        (address) => parts.claims.find(parts.view, address) === undefined,
        parts.random,
      );
      if (found === undefined) continue;
      this.#claim(found);
      return found;
    }
    throw fullError();
  }

  /** The condition makes the transaction fail if another server allocates the address first. */
  #claim(address: IpAddress): void {
    const { claims } = this.#choice.parts;
    this.compare.push({ key: claims.key(address), modRevision: 0 });
    this.changes.push(claims.put(address, this.#service));
  }

  #refusal(text: string, why: string): Error {
    const errors = new FieldErrors();
    errors.invalid("spec.clusterIPs", this.#service.spec.clusterIPs, `failed to allocate IP ${text}: ${why}`);
    return invalid({ group: "", kind: "Service" }, this.#service.metadata.name, errors.found);
  }
}

function fullError(): Error {
  return internalError(new Error("failed to allocate a serviceIP: range is full"));
}
