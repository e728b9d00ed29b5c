/** Takes the finalizers of a namespace's spec away, once it is empty. With the last one the namespace is gone. */
import type { Namespace } from "../../../api/generated/types/core-v1.ts";
import { prepareNamespaceFinalize, validateNamespaceFinalize } from "../../../resources/core/namespace.ts";
import type { EndpointRules } from "../../objects/endpoint-rules.ts";
import { update } from "../update.ts";
import type { Verb } from "../verb.ts";

const RULES: EndpointRules<Namespace> = {
  prepare: prepareNamespaceFinalize,
  validate: (next, _previous, errors) => validateNamespaceFinalize(next, errors),
};

export const finalizeNamespace: Verb = (call, workshop) => update({ ...call, endpoint: RULES }, workshop);
