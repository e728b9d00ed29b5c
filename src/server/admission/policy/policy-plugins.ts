/** Creates the plugins for admission policies. They read only server memory. */
import type { Store } from "../../../store/store.ts";
import { accessDecider } from "../../access/authz/access-decider.ts";
import type { Authorizer } from "../../access/authz/authorizer.ts";
import type { Registry } from "../../objects/registry.ts";
import type { Versions } from "../../objects/versions.ts";
import type { AdmissionPlugin } from "../plugin.ts";
import { mutatingPolicies } from "./mutating-policies.ts";
import { paramAccess } from "./param-access.ts";
import { validatingPolicies } from "./validating-policies.ts";

interface PolicyPluginParts {
  readonly store: Store;
  readonly registry: Registry;
  readonly versions: Versions;
  readonly authorizer: Authorizer;
}

/** The plugins in order of execution. */
export function policyPlugins(all: PolicyPluginParts): readonly AdmissionPlugin[] {
  const { store, registry, versions, authorizer } = all;
  const parts = {
    store,
    registry,
    versions,
    deciderFor: (user: Parameters<typeof accessDecider>[1]) => accessDecider(authorizer, user),
  };
  return [...paramAccess(all), mutatingPolicies(parts), validatingPolicies(parts)];
}
