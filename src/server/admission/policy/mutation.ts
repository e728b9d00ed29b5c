/** Applies one mutation of a policy to one object. */
import type { Bindings } from "../../../api/cel/program.ts";
import type {
  MutatingAdmissionPolicy,
  Mutation,
} from "../../../api/generated/types/admissionregistration-v1.ts";
import { cloneJson } from "../../../api/json/json-clone.ts";
import type { JsonObject } from "../../../api/json/json-object.ts";
import { findKindSchema } from "../../../api/schema/built-in-schema.ts";
import { DecodeError } from "../../../api/schema/decode-error.ts";
import { toNormalForm } from "../../../api/schema/normal-form.ts";
import type { StructSchema } from "../../../api/schema/schema.ts";
import { EXPRESSION_RESULTS } from "../../../resources/admission/policy-environment.ts";
import type { ApiObject, Draft } from "../../../resources/rules/kind-rules.ts";
import type { AdmittedResource } from "../../objects/registry.ts";
import type { AdmissionRequest } from "../plugin.ts";
import { applyConfiguration, MutationError } from "./apply-configuration.ts";
import {
  compileCommons,
  type CompiledCommons,
  compiledOnce,
  type PolicyExpression,
} from "./compiled-policy.ts";
import { effortOf, type PolicyParts } from "./dispatch.ts";
import { Evaluation } from "./evaluation.ts";
import { applyPatchExpression } from "./json-patch-expression.ts";
import { converted, policyBindings, subjectAs } from "./request-values.ts";
import { mentionsOwners, withOwners } from "./shown-owners.ts";

/** A policy and the request that it mutates. */
export interface Mutating {
  readonly policy: { readonly object: MutatingAdmissionPolicy };
  readonly params: ApiObject | undefined;
  /** The resource in whose version the policy sees the request. */
  readonly resource: AdmittedResource;
  readonly request: AdmissionRequest;
  readonly parts: PolicyParts;
}

interface CompiledMutation {
  readonly type: Mutation["patchType"];
  readonly expression: PolicyExpression;
}

interface CompiledMutations extends CompiledCommons {
  readonly mutations: readonly CompiledMutation[];
}

const compiledMutations = compiledOnce((policy: MutatingAdmissionPolicy): CompiledMutations => {
  const { compile, ...commons } = compileCommons(policy, true);
  return {
    ...commons,
    mutations: (policy.spec.mutations ?? []).map(
      ({ patchType: type, applyConfiguration: config, jsonPatch }) => {
        const isPatch = type === "JSONPatch";
        const { expression: source = "" } = (isPatch ? jsonPatch : config) ?? {};
        return {
          type,
          expression: compile(source, isPatch ? EXPRESSION_RESULTS.patch : EXPRESSION_RESULTS.configuration),
        };
      },
    ),
  };
});

/** Throws an ExpressionError. */
export function isSelected(object: ApiObject, mutating: Mutating): boolean {
  return evaluationOf(object, mutating).isSelected();
}

/** The result of the mutation at index `at`; the object itself if it is unchanged. Throws if the mutation fails. */
export function mutated(object: ApiObject, at: number, mutating: Mutating): ApiObject {
  const mutation = compiledMutations(mutating.policy.object).mutations[at];
  if (mutation === undefined) return object;
  const { resource, request, parts } = mutating;
  const seen = converted(object, { from: request.resource, to: resource }, parts.versions);
  const evaluation = evaluationOf(object, mutating);
  const value = evaluation.evaluate(mutation.expression);
  const schema = schemaOf(seen, resource);
  const patched = evaluation.within(mutation.expression.source, (run) =>
    mutation.type === "JSONPatch"
      ? applyPatchExpression(value, seen, run)
      : applyConfiguration(value, { object: seen, schema }, run),
  );
  if (patched === seen) return object;
  const whole = completed(patched, schema, { seen, resource });
  return converted(whole, { from: resource, to: request.resource }, parts.versions);
}

/** Evaluation on the current object: each expression sees the result of the previous one. */
function evaluationOf(object: ApiObject, { policy, params, resource, request, parts }: Mutating): Evaluation {
  const shown = mentionsOwners(policy.object) ? withOwners(object, request) : object;
  const subject = { request, object: shown, oldObject: request.previous };
  const bindings: Bindings = policyBindings(subjectAs(subject, resource, parts.versions), resource, parts);
  return new Evaluation({
    commons: compiledMutations(policy.object),
    bindings,
    params,
    effort: effortOf(request),
    kind: resource.facts.kind,
  });
}

/** An object of a subresource may be of another kind than the resource. */
function schemaOf({ apiVersion, kind }: ApiObject, resource: AdmittedResource): StructSchema {
  if (kind === resource.facts.kind && apiVersion === resource.apiVersion) return resource.schema;
  const schema = findKindSchema(apiVersion, kind);
  if (schema !== undefined) return schema;
  throw new MutationError(`${apiVersion}, Kind=${kind} has no schema`);
}

/** The object in normal form and with defaults, as the write path expects it. */
function completed(
  patched: JsonObject,
  schema: StructSchema,
  { seen, resource }: { readonly seen: ApiObject; readonly resource: AdmittedResource },
): ApiObject {
  const value = cloneJson(normalForm(patched, schema, resource)) as Draft<ApiObject>;
  checkIdentity(value, seen);
  if (seen.kind === resource.facts.kind) resource.rules.defaults?.(value);
  return value;
}

/** An unknown field is an error for built-in kinds; custom kinds drop it. */
function normalForm(patched: JsonObject, schema: StructSchema, { custom }: AdmittedResource): JsonObject {
  try {
    const { value, unknownFields } = toNormalForm(schema, patched);
    if (custom !== undefined || unknownFields.length === 0) return value;
    const fields = unknownFields.map((field) => `unknown field ${JSON.stringify(field)}`);
    throw new MutationError(`strict decoding error: ${fields.join(", ")}`);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new MutationError(`error applying patch: ${error.message}`, { cause: error });
  }
}

/** Metadata that identifies an object. Policies must not change it. */
const IDENTITY = [
  "name",
  "generateName",
  "namespace",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "managedFields",
] as const;

function checkIdentity(object: Partial<ApiObject>, before: Partial<ApiObject>): void {
  if (object.apiVersion !== before.apiVersion || object.kind !== before.kind)
    throw new MutationError("error applying patch: apiVersion and kind may not be changed");
  for (const field of IDENTITY) {
    const [next, previous] = [object.metadata?.[field], before.metadata?.[field]];
    if (JSON.stringify(next) !== JSON.stringify(previous))
      throw new MutationError(`error applying patch: metadata.${field} may not be changed`);
  }
}
