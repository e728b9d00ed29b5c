/** CEL library of authorization checks. The caller provides the decisions. */
import { dns1123Label, dns1123Subdomain } from "../../values/names.ts";
import { CelEvaluationError } from "../cel-error.ts";
import type { Implementation, Library } from "../overload.ts";
import { type CelValue, Opaque } from "../value.ts";

/** An authorization check of a path or a resource. Empty texts are not specified. */
export interface AccessCheck {
  readonly verb: string;
  readonly path: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly fieldSelector: string;
  readonly labelSelector: string;
  /** Subject of the check; `undefined` for the user of the request. */
  readonly serviceAccount: { readonly namespace: string; readonly name: string } | undefined;
}

export interface AccessDecision {
  readonly isAllowed: boolean;
  readonly reason: string;
  /** `undefined` when the check succeeded. */
  readonly error?: string;
}

/** Source of decisions. It is synchronous, because evaluations cannot wait. */
export interface AccessDecider {
  decide(question: AccessCheck): AccessDecision;
}

interface Check {
  readonly decider: AccessDecider;
  readonly question: AccessCheck;
}

const ANYTHING: AccessCheck = {
  verb: "",
  path: "",
  group: "",
  resource: "",
  subresource: "",
  namespace: "",
  name: "",
  fieldSelector: "",
  labelSelector: "",
  serviceAccount: undefined,
};

export const AUTHORIZER_TYPE = "kubernetes.authorization.Authorizer";
export const RESOURCE_CHECK_TYPE = "kubernetes.authorization.ResourceCheck";
const PATH_CHECK = "kubernetes.authorization.PathCheck";
const GROUP_CHECK = "kubernetes.authorization.GroupCheck";
const DECISION = "kubernetes.authorization.Decision";

/** Value of the variable `authorizer`. */
export function authorizerValue(decider: AccessDecider): CelValue {
  return checkValue(AUTHORIZER_TYPE, { decider, question: ANYTHING });
}

/** Value of the variable `authorizer.requestResource`. */
export function resourceCheckValue(decider: AccessDecider, question: Partial<AccessCheck>): CelValue {
  return checkValue(RESOURCE_CHECK_TYPE, { decider, question: { ...ANYTHING, ...question } });
}

function checkValue(type: string, check: Check): CelValue {
  return new Opaque(type, check, JSON.stringify(check.question));
}

/** Fields that must not be empty in a check. */
const NEEDED: ReadonlySet<keyof AccessCheck> = new Set(["path", "resource"] as const);

/** The check with one more field set. */
function narrow(type: string, field: keyof AccessCheck): Implementation {
  return ([value, text]) => {
    if (NEEDED.has(field) && (text as string).trim() === "")
      throw new CelEvaluationError(`${field} must not be empty`);
    const { decider, question } = (value as Opaque<Check>).content;
    return checkValue(type, { decider, question: { ...question, [field]: text } });
  };
}

const decide: Implementation = ([value, verb]) => {
  const { decider, question } = (value as Opaque<Check>).content;
  const decision = decider.decide({ ...question, verb: verb as string });
  return new Opaque(DECISION, decision, JSON.stringify(decision));
};

function decisionOf(value: CelValue): AccessDecision {
  return (value as Opaque<AccessDecision>).content;
}

export const AUTHORIZER: Library = [
  [`${AUTHORIZER_TYPE} -> path(string): ${PATH_CHECK}`, narrow(PATH_CHECK, "path")],
  [`${AUTHORIZER_TYPE} -> group(string): ${GROUP_CHECK}`, narrow(GROUP_CHECK, "group")],
  [
    `${AUTHORIZER_TYPE} -> serviceAccount(string, string): ${AUTHORIZER_TYPE}`,
    ([value, namespace, name]) => {
      if (dns1123Subdomain(name as string).length > 0)
        throw new CelEvaluationError("Invalid service account name");
      if (dns1123Label(namespace as string).length > 0)
        throw new CelEvaluationError("Invalid service account namespace");
      const { decider, question } = (value as Opaque<Check>).content;
      const serviceAccount = { namespace: namespace as string, name: name as string };
      return checkValue(AUTHORIZER_TYPE, { decider, question: { ...question, serviceAccount } });
    },
  ],
  [`${GROUP_CHECK} -> resource(string): ${RESOURCE_CHECK_TYPE}`, narrow(RESOURCE_CHECK_TYPE, "resource")],
  ...(["subresource", "namespace", "name", "fieldSelector", "labelSelector"] as const).map(
    (field): Library[number] => [
      `${RESOURCE_CHECK_TYPE} -> ${field}(string): ${RESOURCE_CHECK_TYPE}`,
      narrow(RESOURCE_CHECK_TYPE, field),
    ],
  ),
  [`${PATH_CHECK} -> check(string): ${DECISION}`, decide],
  [`${RESOURCE_CHECK_TYPE} -> check(string): ${DECISION}`, decide],
  [`${DECISION} -> errored(): bool`, ([decision]) => decisionOf(decision).error !== undefined],
  [`${DECISION} -> error(): string`, ([decision]) => decisionOf(decision).error ?? ""],
  [`${DECISION} -> allowed(): bool`, ([decision]) => decisionOf(decision).isAllowed],
  [`${DECISION} -> reason(): string`, ([decision]) => decisionOf(decision).reason],
];
