/** Removes finalizers from a namespace's spec. The removal of the last one deletes the namespace. */
import type { Namespace } from "../../../api/generated/types/core-v1.ts";
import { prepareNamespaceFinalize, validateNamespaceFinalize } from "../../../resources/core/namespace.ts";
import type { EndpointRules } from "../../objects/endpoint-rules.ts";
import { update } from "../update.ts";
import type { Verb } from "../verb.ts";

const RULES: EndpointRules<Namespace> = {
  prepare: prepareNamespaceFinalize,
  validate: (next, _previous, errors) => validateNamespaceFinalize(next, errors),
};

export const finalizeNamespace: Verb = (call, verbParts) => update({ ...call, endpoint: RULES }, verbParts);
