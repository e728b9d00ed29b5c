/** NetworkPolicy: the traffic that pods may receive and send. */

import { type FieldErrors, type FieldPath, fieldPath } from "../../api/errors/field-error.ts";
import type {
  IPBlock,
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
} from "../../api/generated/types/networking-v1.ts";
import { validateLabelSelector } from "../../api/selectors/label-selector.ts";
import { cidrContains, findCidr, legacyCidr } from "../../api/values/ip-address.ts";
import { portName, portNumber } from "../../api/values/names.ts";
import { cidrWarnings, PROTOCOLS } from "../rules/address-rules.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind, type Draft } from "../rules/kind-rules.ts";
import { isSelectorValueError } from "../rules/tolerated-errors.ts";
import { checkRequiredChoice } from "../rules/value-rules.ts";
import { selectorCell } from "../workloads/workload-cells.ts";

const SPEC = fieldPath("spec");

export const networkPolicy = defineKind<NetworkPolicy>("networking.k8s.io/v1", "NetworkPolicy", {
  defaults({ spec }) {
    for (const rule of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
      for (const port of rule.ports ?? []) port.protocol ??= "TCP";
    }
    policyTypeDefaults(spec);
  },

  validate({ spec }, errors) {
    validateLabelSelector(spec.podSelector, SPEC.child("podSelector"), errors);
    for (const [i, { ports = [], from = [] }] of (spec.ingress ?? []).entries()) {
      const path = SPEC.child("ingress").index(i);
      checkPorts(ports, path.child("ports"), errors);
      checkPeers(from, path.child("from"), errors);
    }
    for (const [i, { ports = [], to = [] }] of (spec.egress ?? []).entries()) {
      const path = SPEC.child("egress").index(i);
      checkPorts(ports, path.child("ports"), errors);
      checkPeers(to, path.child("to"), errors);
    }
    checkTypes(spec.policyTypes ?? [], errors);
  },

  tolerates: isSelectorValueError,

  warnings: ({ spec }) => [
    ...(spec.ingress ?? []).flatMap(({ from = [] }, i) =>
      peerWarnings(from, SPEC.child("ingress").index(i).child("from")),
    ),
    ...(spec.egress ?? []).flatMap(({ to = [] }, i) =>
      peerWarnings(to, SPEC.child("egress").index(i).child("to")),
    ),
  ],

  cells: (it, now) => [it.metadata.name, selectorCell(it.spec.podSelector), ageText(it, now)],
});

/** The default types are Ingress, and Egress when the policy has egress rules. */
function policyTypeDefaults(spec: Draft<NetworkPolicy["spec"]>): void {
  if ((spec.policyTypes ?? []).length > 0) return;
  spec.policyTypes = (spec.egress ?? []).length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
}

function checkPorts(ports: readonly NetworkPolicyPort[], path: FieldPath, errors: FieldErrors): void {
  for (const [i, { protocol, port, endPort }] of ports.entries()) {
    const at = path.index(i);
    checkRequiredChoice({ path: at.child("protocol"), value: protocol, among: PROTOCOLS }, errors);
    if (port === undefined) {
      if (endPort !== undefined)
        errors.required(at.child("port"), "must be specified when `endPort` is specified");
      continue;
    }
    errors.invalidFor(at.child("port"), port, typeof port === "number" ? portNumber(port) : portName(port));
    if (endPort === undefined) continue;
    if (typeof port === "string") {
      errors.required(at.child("endPort"), "may not be specified when `port` is non-numeric");
    } else if (endPort < port) {
      errors.invalid(at.child("endPort"), endPort, "must be greater than or equal to `port`");
    }
    errors.invalidFor(at.child("endPort"), endPort, portNumber(endPort));
  }
}

function checkPeers(peers: readonly NetworkPolicyPeer[], path: FieldPath, errors: FieldErrors): void {
  for (const [i, { podSelector, namespaceSelector, ipBlock }] of peers.entries()) {
    const at = path.index(i);
    if (podSelector !== undefined) validateLabelSelector(podSelector, at.child("podSelector"), errors);
    if (namespaceSelector !== undefined) {
      validateLabelSelector(namespaceSelector, at.child("namespaceSelector"), errors);
    }
    if (ipBlock !== undefined) checkBlock(ipBlock, at.child("ipBlock"), errors);
    const hasSelector = podSelector !== undefined || namespaceSelector !== undefined;
    if (!hasSelector && ipBlock === undefined) errors.required(at, "must specify a peer");
    else if (hasSelector && ipBlock !== undefined) {
      errors.forbidden(at, "may not specify both ipBlock and another peer");
    }
  }
}

function checkBlock({ cidr, except = [] }: IPBlock, path: FieldPath, errors: FieldErrors): void {
  if (cidr === "") {
    errors.required(path.child("cidr"));
    return;
  }
  const problems = legacyCidr(cidr);
  errors.invalidFor(path.child("cidr"), cidr, problems);
  const block = findCidr(cidr);
  if (problems.length > 0 || block === undefined) return;
  for (const [i, text] of except.entries()) {
    const at = path.child("except").index(i);
    const found = legacyCidr(text);
    errors.invalidFor(at, text, found);
    const hole = findCidr(text);
    if (found.length > 0 || hole === undefined) continue;
    if (!cidrContains(block, hole.address) || block.prefixLength >= hole.prefixLength) {
      errors.invalid(at, text, "must be a strict subset of `cidr`");
    }
  }
}

function checkTypes(types: readonly string[], errors: FieldErrors): void {
  const path = SPEC.child("policyTypes");
  if (types.length > 2) {
    errors.invalid(path, types, "may not specify more than two policyTypes");
    return;
  }
  for (const [i, type] of types.entries()) {
    if (type !== "Ingress" && type !== "Egress")
      errors.notSupported(path.index(i), type, ["Ingress", "Egress"]);
  }
}

function peerWarnings(peers: readonly NetworkPolicyPeer[], path: FieldPath): readonly string[] {
  return peers.flatMap(({ ipBlock }, i) => {
    const at = path.index(i).child("ipBlock");
    if (ipBlock === undefined) return [];
    return [
      ...cidrWarnings(ipBlock.cidr, at.child("cidr")),
      ...(ipBlock.except ?? []).flatMap((text, j) => cidrWarnings(text, at.child("except").index(j))),
    ];
  });
}
