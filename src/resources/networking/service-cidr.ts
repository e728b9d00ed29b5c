/** ServiceCIDR: address blocks from which the server allocates cluster IPs. */

import { fieldPath } from "../../api/errors/field-error.ts";
import type { ServiceCIDR } from "../../api/generated/types/networking-v1.ts";
import { cidr as canonicalCidr, findCidr } from "../../api/values/ip-address.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { ALL_METADATA } from "../rules/metadata-parts.ts";

const CIDRS = fieldPath("spec", "cidrs");

export const serviceCidr = defineKind<ServiceCIDR>("networking.k8s.io/v1", "ServiceCIDR", {
  validate({ spec: { cidrs = [] } }, errors) {
    if (cidrs.length === 0) {
      errors.required(CIDRS, "at least one CIDR required");
      return;
    }
    if (cidrs.length > 2) {
      errors.invalid(CIDRS, { CIDRs: cidrs }, "may only hold up to 2 values");
      return;
    }
    for (const [i, text] of cidrs.entries()) errors.invalidFor(CIDRS.index(i), text, canonicalCidr(text));
    const [first, second] = cidrs.map((text) => findCidr(text)?.address.family);
    if (first === undefined || first !== second) return;
    const detail = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
    errors.invalid(CIDRS, cidrs, detail);
  },

  /**
   * A block of the second family may be added. Existing blocks stay, because Services use addresses of them.
   */
  validateUpdate({ spec: { cidrs: next = [] } }, { spec: { cidrs: previous = [] } }, errors) {
    const isUpgrade = previous.length === 1 && next.length === 2;
    if (previous.length !== next.length && !isUpgrade) {
      errors.immutable(CIDRS, next, previous);
      return;
    }
    for (const [i, block] of previous.entries()) errors.immutable(CIDRS.index(i), next[i], block);
  },

  statusKeeps: ALL_METADATA,
  cells: (it, now) => [it.metadata.name, (it.spec.cidrs ?? []).join(","), ageText(it, now)],
});
