/** Compiled CEL rules, made once per schema on first use. */
import { CelCompileError, compileFailure } from "../cel/cel-error.ts";
import { compileCel, type Program } from "../cel/program.ts";
import { type CelType, optionalOf } from "../cel/type.ts";
import type { ValidationRule } from "../generated/types/apiextensions-v1.ts";
import { typeOfSchema } from "./expression-types.ts";
import type { Structural } from "./structural.ts";

export interface Expression {
  readonly rule: ValidationRule;
  readonly program: Compiled;
  /** `undefined` when the rule has no message expression. */
  readonly message: Compiled | undefined;
  /** True when the rule uses the previous value. */
  readonly isTransition: boolean;
}

export type Compiled =
  | { readonly program: Program }
  /** The error for the author of the schema. */
  | { readonly mistake: string };

export interface Expressions {
  readonly type: CelType;
  readonly all: readonly Expression[];
}

const made = new WeakMap<Structural, Expressions>();

/** The compiled rules; `undefined` when the schema itself has none, or has a type that CEL cannot represent. */
export function expressionsOf(schema: Structural, level: "root" | "part"): Expressions | undefined {
  if (schema.expressions.length === 0) return undefined;
  const known = made.get(schema);
  if (known !== undefined) return known;
  const type = typeOfSchema(schema, level);
  if (type === undefined) return undefined;
  const expressions = { type, all: schema.expressions.map((rule) => compileRule(rule, type)) };
  made.set(schema, expressions);
  return expressions;
}

function compileRule(rule: ValidationRule, type: CelType): Expression {
  const oldType = rule.optionalOldSelf === true ? optionalOf(type) : type;
  const variables = new Map([
    ["self", type],
    ["oldSelf", oldType],
  ]);
  const program = compile(rule.rule, variables, BOOLEAN);
  const { messageExpression = "" } = rule;
  return {
    rule,
    program,
    message: messageExpression === "" ? undefined : compile(messageExpression, variables, TEXT),
    isTransition: "program" in program && program.program.mentions("oldSelf"),
  };
}

/** Required result type of an expression, and upstream's errors for other types. */
interface Wanted {
  readonly type: string;
  /** Text before a compile error. */
  readonly prefix: string;
  readonly otherType: string;
}

const BOOLEAN: Wanted = {
  type: "bool",
  prefix: "",
  otherType: "cel expression must evaluate to a bool",
};
const TEXT: Wanted = {
  type: "string",
  prefix: "messageExpression ",
  otherType: "messageExpression must evaluate to a string",
};

function mistakeText(error: CelCompileError, { prefix }: Wanted): string {
  if (prefix === "") return compileFailure(error);
  return prefix + compileFailure(error).replace(/^program /, "");
}

function compile(source: string, variables: ReadonlyMap<string, CelType>, wanted: Wanted): Compiled {
  try {
    const program = compileCel(source, { variables });
    return program.type.name === wanted.type ? { program } : { mistake: wanted.otherType };
  } catch (error) {
    if (error instanceof CelCompileError) return { mistake: mistakeText(error, wanted) };
    throw error;
  }
}
