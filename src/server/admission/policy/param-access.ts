/**
 * Prevents users from reading forbidden objects through a policy. Policies are evaluated with the server's own
 * rights. Therefore the author of a policy or binding must be allowed to read its parameters. No option turns the
 * check off.
 */
import { invalid } from "../../../api/errors/api-error.ts";
import { FieldErrors, fieldPath } from "../../../api/errors/field-error.ts";
import type { ParamKind } from "../../../api/generated/types/admissionregistration-v1.ts";
import { jsonEqual } from "../../../api/patch/json-equal.ts";
import { isPrivileged } from "../../access/authz/authorization.ts";
import type { AccessAttributes, Authorizer } from "../../access/authz/authorizer.ts";
import { kindPrefix } from "../../objects/lister.ts";
import type { Registry } from "../../objects/registry.ts";
import { type AdmissionPlugin, type AdmissionRequest, definePlugin } from "../plugin.ts";
import { ConfigurationError, paramResource } from "./params.ts";
import type { BindingObject, PolicyObject } from "./policy-index.ts";

const GROUP = "admissionregistration.k8s.io";
const TYPES = ["validating", "mutating"];

interface AccessParts {
  readonly registry: Registry;
  readonly authorizer: Authorizer;
}

/** A permission that the user needs, and the error text if it is missing. */
interface Demand {
  readonly attributes: Omit<AccessAttributes, "user">;
  readonly field: string;
  readonly why: string;
}

export function paramAccess(parts: AccessParts): readonly AdmissionPlugin[] {
  const of = (what: string): readonly string[] => TYPES.map((type) => `${type}admission${what}.${GROUP}`);
  return [
    guard<PolicyObject>(parts, of("policies"), (policy, { previous, user }) => {
      const { paramKind } = policy.spec;
      if (
        paramKind === undefined ||
        jsonEqual(paramKind, (previous as PolicyObject | undefined)?.spec.paramKind)
      )
        return undefined;
      const { kind = "", apiVersion = "" } = paramKind;
      return {
        attributes: attributesOf(paramKind, parts.registry),
        field: "paramKind",
        why: `user ${user.name} must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`,
      };
    }),
    guard<BindingObject>(parts, of("policybindings"), (binding, request) =>
      bindingDemand(binding, request, parts.registry),
    ),
  ];
}

function bindingDemand(
  { spec }: BindingObject,
  { previous, user, memory, resource }: AdmissionRequest,
  registry: Registry,
): Demand | undefined {
  const { paramRef, policyName = "" } = spec;
  if (paramRef === undefined) return undefined;
  const before = (previous as BindingObject | undefined)?.spec;
  if (before?.policyName === policyName && jsonEqual(paramRef, before.paramRef)) return undefined;
  const policies = kindPrefix<PolicyObject>(
    resource.facts.name.replace(/bindings$/, "").replace(/y$/, "ies"),
  );
  const attributes = attributesOf(memory.find(policies, policyName)?.spec.paramKind, registry);
  const verb = paramRef.selector === undefined ? "get" : "list";
  const { name = "", namespace = "*" } = paramRef;
  return {
    attributes: { ...attributes, verb, name, namespace },
    field: "paramRef",
    why: `user ${user.name} does not have "${verb}" permission on the object referenced by paramRef`,
  };
}

function guard<T extends PolicyObject | BindingObject>(
  { authorizer }: AccessParts,
  resources: readonly string[],
  demandOf: (object: T, request: AdmissionRequest) => Demand | undefined,
): AdmissionPlugin {
  return definePlugin<T>({
    name: "PolicyParamAccess",
    interests: [{ resources, operations: ["CREATE", "UPDATE"] }],
    validateLater: (object, request) => {
      const demand =
        object === undefined || isPrivileged(request.user) ? undefined : demandOf(object, request);
      if (demand === undefined) return undefined;
      return enforce(demand, request, authorizer);
    },
  });
}

async function enforce(
  { attributes, field, why }: Demand,
  { resource, name, user }: AdmissionRequest,
  authorizer: Authorizer,
): Promise<void> {
  const { outcome } = await authorizer.decide({ ...attributes, user });
  if (outcome === "allowed") return;
  const errors = new FieldErrors();
  errors.forbidden(fieldPath("spec", field), why);
  throw invalid({ group: resource.facts.group, kind: resource.facts.kind }, name, errors.found);
}

/** A kind that is not served may be added later, so the permission is demanded for all resources. */
function attributesOf(kind: ParamKind | undefined, registry: Registry): Omit<AccessAttributes, "user"> {
  const { apiVersion = "*" } = kind ?? {};
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/", 2) : ["", apiVersion];
  const isKnown = kind !== undefined;
  return {
    verb: "get",
    path: "",
    group: isKnown ? (group ?? "") : "*",
    version: isKnown ? (version ?? "") : "*",
    resource: kind === undefined ? "*" : resourceName(kind, registry),
    subresource: "",
    namespace: "*",
    name: "*",
    fieldSelector: "",
    labelSelector: "",
  };
}

function resourceName(kind: ParamKind, registry: Registry): string {
  try {
    return paramResource(kind, registry).facts.name;
  } catch (error) {
    if (error instanceof ConfigurationError) return "*";
    throw error;
  }
}
