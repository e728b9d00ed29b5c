/** What expressions of admission policies may name, and what is wrong with them, in upstream's words. */
import { CelCompileError, compileFailure } from "../../api/cel/cel-error.ts";
import { AUTHORIZER_TYPE, RESOURCE_CHECK_TYPE } from "../../api/cel/library/authorizer.ts";
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

/** A namespace as policies see it: without what other kinds of objects would keep to themselves. */
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
/** What a mutating policy makes: `Object{…}`, whose parts are named after where they are, and `JSONPatch{…}`. */
export const OBJECT_TYPE = "Object";
const PATCH_TYPE = recordType("JSONPatch", { op: STRING, path: STRING, from: STRING, value: DYN });

export type PolicyProgram = { readonly program: Program } | { readonly mistake: string };

/** What an expression must give. */
export interface Wanted {
  readonly types: readonly CelType[];
  readonly text: string;
  /** What is said to a client may not depend on what the client may do. */
  readonly hidesAuthorizer?: boolean;
}

const BOOLEAN: Wanted = { types: [namedType("bool")], text: "bool" };

export const WANTED = {
  condition: BOOLEAN,
  message: { types: [STRING], text: "string", hidesAuthorizer: true },
  annotation: { types: [STRING, namedType("null")], text: "one of [string null_type]" },
  configuration: { types: [partType(OBJECT_TYPE)], text: OBJECT_TYPE },
  patch: { types: [listOf(PATCH_TYPE)], text: "list(JSONPatch)" },
  anything: { types: [], text: "" },
} as const satisfies Record<string, Wanted>;

export interface EnvironmentOptions {
  readonly hasParams: boolean;
  /** Conditions are looked at before everything else of a policy, its variables too. */
  readonly hasVariables: boolean;
  /** Whether `Object` and `JSONPatch` may be made. */
  readonly makesPatches?: boolean;
  /** Where it is known what kind of object is looked at; anything otherwise. */
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

  /** Later expressions may name it. Those that cannot be compiled may not be named. */
  define(name: string, source: string): PolicyProgram {
    const compiled = this.compile(source, WANTED.anything);
    if ("program" in compiled) this.#variables.set(name, { type: compiled.program.type, jsonName: name });
    return compiled;
  }

  compile(source: string, wanted: Wanted): PolicyProgram {
    const program = this.#compiled(source, wanted);
    if (program instanceof CelCompileError) return { mistake: compileFailure(program) };
    return isOneOf(program.type, wanted) ? { program } : { mistake: mismatch(wanted, program.type) };
  }

  /** Where types do not fit; undefined when they do. */
  findIssues(source: string): string | undefined {
    const program = this.#compiled(source, WANTED.anything);
    return program instanceof CelCompileError ? program.message : undefined;
  }

  #compiled(source: string, { hidesAuthorizer = false }: Wanted): Program | CelCompileError {
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

function isOneOf(type: CelType, { types }: Wanted): boolean {
  return types.length === 0 || types.some((one) => declaredTypeText(one) === declaredTypeText(type));
}

function mismatch({ types, text }: Wanted, given: CelType): string {
  return types.length === 1
    ? `must evaluate to ${text} but got ${declaredTypeText(given)}`
    : `must evaluate to ${text}`;
}

/** `Object`, `Object.spec`, `Object.spec.containers`: what they may hold is known when they are put together with the object. */
const PATCHES = {
  get(name: string): CelType | undefined {
    if (name === PATCH_TYPE.name) return PATCH_TYPE;
    return name === OBJECT_TYPE || name.startsWith(`${OBJECT_TYPE}.`) ? partType(name) : undefined;
  },
};

function partType(name: string): CelType {
  return objectType(name, { find: (jsonName) => ({ type: DYN, jsonName }), names: [] });
}
