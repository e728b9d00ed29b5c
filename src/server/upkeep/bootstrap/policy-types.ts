/** Writes the type errors of expressions into the status of validating policies, once for each generation. */
import type { ValidatingAdmissionPolicy } from "../../../api/generated/types/admissionregistration-v1.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { prefixEnd } from "../../../store/store.ts";
import type { Store } from "../../../store/store.ts";
import { typeWarnings } from "../../admission/policy/type-check.ts";
import type { Registry } from "../../objects/registry.ts";
import { requireStored } from "../../objects/registry.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import { prefixOf } from "../../objects/versions.ts";
import type { RequiredObjects, RequiredObject } from "../required-objects.ts";

/** Bytes of policies checked in one run. The status writes cause the next run, so that many policies do not delay other work. */
const BYTES_PER_LOOK = 20_000;

export function policyTypes({
  registry,
  store,
}: {
  readonly registry: Registry;
  readonly store: Store;
}): RequiredObjects {
  const resource = requireStored(registry, "admissionregistration.k8s.io", "validatingadmissionpolicies");
  const prefix = prefixOf(resource, "");
  const kept = (name: string): RequiredObject => ({
    resource,
    namespace: "",
    name,
    isOptional: true,
    manifest: () => ({}),
    correctedStatus: (live) => withStatus(live as ValidatingAdmissionPolicy, registry),
  });
  return {
    name: "policy types",
    watched: [prefix],
    get objects() {
      const unchecked: RequiredObject[] = [];
      let bytes = 0;
      for (const entry of store.accepted.range(prefix, prefixEnd(prefix))) {
        const object = StoredObject.of(entry).object as ValidatingAdmissionPolicy;
        if (isChecked(object)) continue;
        unchecked.push(kept(object.metadata.name));
        bytes += entry.value.length;
        if (bytes > BYTES_PER_LOOK) break;
      }
      return unchecked;
    },
  };
}

function isChecked({ metadata, status }: ValidatingAdmissionPolicy): boolean {
  return (status.observedGeneration ?? 0) >= (metadata.generation ?? 1);
}

function withStatus(policy: ValidatingAdmissionPolicy, registry: Registry): JsonObject {
  if (isChecked(policy)) return asJson(policy);
  const expressionWarnings = typeWarnings(policy, registry);
  return asJson({
    ...policy,
    status: {
      ...policy.status,
      observedGeneration: policy.metadata.generation ?? 1,
      typeChecking: expressionWarnings.length === 0 ? {} : { expressionWarnings },
    },
  });
}

function asJson(object: object): JsonObject {
  return object as JsonObject;
}
