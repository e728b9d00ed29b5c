/** IngressClass: the controller that serves an Ingress. */

import { type FieldErrors, fieldPath } from "../../api/errors/field-error.ts";
import type {
  IngressClass,
  IngressClassParametersReference,
} from "../../api/generated/types/networking-v1.ts";
import { dns1123Label, dns1123Subdomain, pathSegmentName } from "../../api/values/names.ts";
import { ageText } from "../rules/human-duration.ts";
import { defineKind, type Draft } from "../rules/kind-rules.ts";

const DEFAULT_ANNOTATION = "ingressclass.kubernetes.io/is-default-class";
const SPEC = fieldPath("spec");
const PARAMETERS = SPEC.child("parameters");
const CONTROLLER_MAX = 250;
/** Characters of a path, RFC 3986. */
const HTTP_PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";

export const ingressClass = defineKind<IngressClass>("networking.k8s.io/v1", "IngressClass", {
  defaults({ spec }) {
    // The field is newer than the kind: the type requires it, but stored objects may lack it.
    const parameters: Draft<Partial<IngressClassParametersReference>> | undefined = spec.parameters;
    if (parameters !== undefined) parameters.scope ??= "Cluster";
  },

  validate({ spec }, errors) {
    checkController(spec.controller ?? "", errors);
    if (spec.parameters !== undefined) checkParameters(spec.parameters, errors);
  },

  validateUpdate(next, previous, errors) {
    errors.immutable("spec.controller", next.spec.controller, previous.spec.controller);
  },

  cells: (it, now) => [nameText(it), it.spec.controller ?? "", parametersText(it), ageText(it, now)],
});

/** Requires the form `example.com/controller`. */
function checkController(controller: string, errors: FieldErrors): void {
  const path = SPEC.child("controller");
  if (controller === "") {
    errors.required(path);
    return;
  }
  if (controller.length > CONTROLLER_MAX) errors.tooLong(path, CONTROLLER_MAX);
  const slash = controller.indexOf("/");
  const domain = controller.slice(0, Math.max(slash, 0));
  const rest = controller.slice(slash + 1);
  if (domain === "" || rest === "") {
    errors.invalid(path, controller, 'must be a domain-prefixed path (such as "acme.io/foo")');
    return;
  }
  errors.invalidFor(path, domain, dns1123Subdomain(domain));
  if (!new RegExp(`^${HTTP_PATH}$`).test(rest)) {
    errors.invalid(path, rest, `Invalid path (regex used for validation is '${HTTP_PATH}')`);
  }
}

function checkParameters(it: IngressClassParametersReference, errors: FieldErrors): void {
  const { apiGroup, namespace, scope } = it;
  if (apiGroup !== undefined)
    errors.invalidFor(PARAMETERS.child("apiGroup"), apiGroup, dns1123Subdomain(apiGroup));
  for (const field of ["kind", "name"] as const) {
    if (it[field] === "") errors.required(PARAMETERS.child(field));
    else errors.invalidFor(PARAMETERS.child(field), it[field], pathSegmentName(it[field]));
  }
  const path = PARAMETERS.child("namespace");
  if (scope === "Namespace") {
    if (namespace === undefined) errors.required(path, "`parameters.scope` is set to 'Namespace'");
    else errors.invalidFor(path, namespace, dns1123Label(namespace));
  } else if (scope === "Cluster") {
    if (namespace !== undefined) errors.forbidden(path, "`parameters.scope` is set to 'Cluster'");
  } else {
    errors.notSupported(PARAMETERS.child("scope"), scope, ["Cluster", "Namespace"]);
  }
}

function nameText({ metadata: { name, annotations } }: IngressClass): string {
  return annotations?.[DEFAULT_ANNOTATION] === "true" ? `${name} (default)` : name;
}

function parametersText({ spec: { parameters } }: IngressClass): string {
  if (parameters === undefined) return "<none>";
  const { apiGroup, kind, name } = parameters;
  return apiGroup === undefined ? `${kind}/${name}` : `${kind}.${apiGroup}/${name}`;
}
