/** Ingress: routes HTTP requests from outside the cluster to Services. */

import { fieldPath } from "../../api/errors/field-error.ts";
import type { Ingress } from "../../api/generated/types/networking-v1.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind } from "../rules/kind-rules.ts";
import { checkIngressPoint, ingressPoints } from "../service/load-balancer-status.ts";
import { checkClassName, checkIngressSpec, CLASS_ANNOTATION } from "./ingress-rules.ts";

const STATUS = fieldPath("status", "loadBalancer", "ingress");

/** Fields that older servers did not check: stored values stay valid. */
const OLD_SECRET = /^spec\.tls\[\d+\]\.secretName$/;
const OLD_HOST = /^spec\.rules\[\d+\]\.host$/;

export const ingress = defineKind<Ingress>("networking.k8s.io/v1", "Ingress", {
  validate(it, errors) {
    checkIngressSpec(it.spec, errors);
    checkClassName(it, errors);
  },

  tolerates: ({ field, body }) =>
    OLD_SECRET.test(field) || (OLD_HOST.test(field) && body.startsWith('Invalid value: "*')),

  validateStatus({ status }, _previous, errors) {
    for (const [i, point] of (status.loadBalancer.ingress ?? []).entries()) {
      checkIngressPoint(point, STATUS.index(i), errors);
    }
  },

  warnings({ metadata }, previous) {
    const isOld = metadata.annotations?.[CLASS_ANNOTATION] !== undefined;
    const wasOld = previous?.metadata.annotations?.[CLASS_ANNOTATION] !== undefined;
    if (!isOld || wasOld) return [];
    return [`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`];
  },

  cells: (it, now) => [
    it.metadata.name,
    it.spec.ingressClassName ?? "<none>",
    hostsText(it),
    ingressPoints(it.status.loadBalancer.ingress ?? []).join(","),
    (it.spec.tls ?? []).length > 0 ? "80, 443" : "80",
    ageText(it, now),
  ],
});

/** Upper bound of the hosts shown. Other rules, also those without a host, are shown as a count. */
const HOSTS_SHOWN_MAX = 3;

function hostsText({ spec: { rules = [] } }: Ingress): string {
  const named = rules.flatMap(({ host = "" }, i) => (host === "" ? [] : [{ host, i }]));
  if (named.length === 0) return "*";
  const shown = named.slice(0, HOSTS_SHOWN_MAX);
  const text = shown.map(({ host }) => host).join(",");
  const last = shown[HOSTS_SHOWN_MAX - 1]?.i ?? rules.length;
  return last < rules.length - 1 ? `${text} + ${rules.length - HOSTS_SHOWN_MAX} more...` : text;
}
