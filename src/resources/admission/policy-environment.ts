/**
 * Compiles the expressions of admission policies: the variables and types they may use, and upstream's error
 * texts.
 */
import { CelCompileError, compileFailure } from "../../api/cel/cel-error.ts";
import { AUTHORIZER_TYPE, RESOURCE_CHECK_TYPE } from "../../api/cel/library/authorizer-library.ts";
import { compileCel, type Program } from "../../api/cel/program.ts";
import {
  type CelType,
  DYN,
  type FieldType,
  INT,
  listOf,
  mapOf,
  namedType,
  objectType,
  STRING,
  TIMESTAMP,
  declaredTypeText,
} from "../../api/cel/type.ts";
import { recordType, REQUEST_TYPE } from "./match-condition.ts";

/** A namespace as policies see it: without owner references and managed fields. */
export const NAMESPACE_TYPE = recordType("kubernetes.Namespace", {
  metadata: recordType("kubernetes.NamespaceMetadata", {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    labels: mapOf(STRING, STRING),
    annotations: mapOf(STRING, STRING),
    UID: STRING,
    creationTimestamp: TIMESTAMP,
    deletionGracePeriodSeconds: INT,
    deletionTimestamp: TIMESTAMP,
    generation: INT,
    resourceVersion: STRING,
    finalizers: listOf(STRING),
  }),
  spec: recordType("kubernetes.NamespaceSpec", { finalizers: listOf(STRING) }),
  status: recordType("kubernetes.NamespaceStatus", { phase: STRING }),
});

export const VARIABLES_TYPE = "kubernetes.variables";
/**
 * A mutating policy constructs `Object{…}` and `JSONPatch{…}`. Nested object types are named by path:
 * `Object.spec`.
 */
export const OBJECT_TYPE = "Object";
const PATCH_TYPE = recordType("JSONPatch", { op: STRING, path: STRING, from: STRING, value: DYN });

export type PolicyProgram = { readonly program: Program } | { readonly mistake: string };

/** Type that an expression must evaluate to. */
export interface ExpressionResult {
  readonly types: readonly CelType[];
  readonly text: string;
  /** True for expressions whose result clients see: it must not depend on the client's permissions. */
  readonly hidesAuthorizer?: boolean;
}

const BOOLEAN: ExpressionResult = { types: [namedType("bool")], text: "bool" };

export const EXPRESSION_RESULTS = {
  condition: BOOLEAN,
  message: { types: [STRING], text: "string", hidesAuthorizer: true },
  annotation: { types: [STRING, namedType("null")], text: "one of [string null_type]" },
  configuration: { types: [partType(OBJECT_TYPE)], text: OBJECT_TYPE },
  patch: { types: [listOf(PATCH_TYPE)], text: "list(JSONPatch)" },
  anything: { types: [], text: "" },
} as const satisfies Record<string, ExpressionResult>;

export interface EnvironmentOptions {
  readonly hasParams: boolean;
  /** False for match conditions: they are evaluated before the variables of the policy. */
  readonly hasVariables: boolean;
  /** Whether expressions may construct `Object` and `JSONPatch`. */
  readonly makesPatches?: boolean;
  /** Type of `object` where the kind is known; any type otherwise. */
  readonly object?: CelType;
  readonly params?: CelType;
}

export class PolicyEnvironment {
  readonly #types: ReadonlyMap<string, CelType>;
  readonly #structs: { get(name: string): CelType | undefined } | undefined;
  readonly #variables = new Map<string, FieldType>();

  constructor(options: EnvironmentOptions) {
    const { hasParams, hasVariables, makesPatches = false, object = DYN, params = DYN } = options;
    this.#types = new Map<string, CelType>([
      ["object", object],
      ["oldObject", object],
      ["request", REQUEST_TYPE],
      ["namespaceObject", NAMESPACE_TYPE],
      ["authorizer", namedType(AUTHORIZER_TYPE)],
      ["authorizer.requestResource", namedType(RESOURCE_CHECK_TYPE)],
      ...(hasVariables ? [["variables", variablesType(this.#variables)] as const] : []),
      ...(hasParams ? [["params", params] as const] : []),
    ]);
    this.#structs = makesPatches ? PATCHES : undefined;
  }

  /** Declares a variable for later expressions. A variable that does not compile stays undeclared. */
  define(name: string, source: string): PolicyProgram {
    const compiled = this.compile(source, EXPRESSION_RESULTS.anything);
    if ("program" in compiled) this.#variables.set(name, { type: compiled.program.type, jsonName: name });
    return compiled;
  }

  compile(source: string, wanted: ExpressionResult): PolicyProgram {
    const program = this.#compiled(source, wanted);
    if (program instanceof CelCompileError) return { mistake: compileFailure(program) };
    return isOneOf(program.type, wanted) ? { program } : { mistake: mismatch(wanted, program.type) };
  }

  /** Error text of a type error; undefined when the expression compiles. */
  findIssues(source: string): string | undefined {
    const program = this.#compiled(source, EXPRESSION_RESULTS.anything);
    return program instanceof CelCompileError ? program.message : undefined;
  }

  #compiled(source: string, { hidesAuthorizer = false }: ExpressionResult): Program | CelCompileError {
    try {
      const structs = this.#structs;
      const variables = hidesAuthorizer ? withoutAuthorizer(this.#types) : this.#types;
      return compileCel(source, { variables, ...(structs !== undefined && { structs }) });
    } catch (error) {
      if (error instanceof CelCompileError) return error;
      throw error;
    }
  }
}

function withoutAuthorizer(types: ReadonlyMap<string, CelType>): ReadonlyMap<string, CelType> {
  return new Map([...types].filter(([name]) => !name.startsWith("authorizer")));
}

function variablesType(variables: ReadonlyMap<string, FieldType>): CelType {
  return objectType(VARIABLES_TYPE, {
    find: (name) => variables.get(name),
    get names() {
      return variables.keys();
    },
  });
}

function isOneOf(type: CelType, { types }: ExpressionResult): boolean {
  return types.length === 0 || types.some((one) => declaredTypeText(one) === declaredTypeText(type));
}

function mismatch({ types, text }: ExpressionResult, given: CelType): string {
  return types.length === 1
    ? `must evaluate to ${text} but got ${declaredTypeText(given)}`
    : `must evaluate to ${text}`;
}

/**
 * `Object`, `Object.spec`, `Object.spec.containers`: any field is allowed here. The merge with the object
 * checks the fields.
 */
const PATCHES = {
  get(name: string): CelType | undefined {
    if (name === PATCH_TYPE.name) return PATCH_TYPE;
    return name === OBJECT_TYPE || name.startsWith(`${OBJECT_TYPE}.`) ? partType(name) : undefined;
  },
};

function partType(name: string): CelType {
  return objectType(name, { find: (jsonName) => ({ type: DYN, jsonName }), names: [] });
}
