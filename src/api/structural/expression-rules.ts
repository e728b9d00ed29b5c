/** Rules in CEL, made ready: compiled once for each schema, when first needed. */
import { CelCompileError, compileFailure } from "../cel/cel-error.ts";
import { compileCel, type Program } from "../cel/program.ts";
import { type CelType, optionalOf } from "../cel/type.ts";
import type { ValidationRule } from "../generated/types/apiextensions-v1.ts";
import { typeOfSchema } from "./expression-types.ts";
import type { Structural } from "./structural.ts";

export interface Expression {
  readonly rule: ValidationRule;
  readonly program: Compiled;
  /** `undefined` when there is none. */
  readonly message: Compiled | undefined;
  /** It compares with the value from before. */
  readonly isTransition: boolean;
}

export type Compiled =
  | { readonly program: Program }
  /** Why it cannot be run, in words for the author of the schema. */
  | { readonly mistake: string };

export interface Expressions {
  readonly type: CelType;
  readonly all: readonly Expression[];
}

const made = new WeakMap<Structural, Expressions>();

/** `undefined` when the schema has none of its own, or is of a type that rules cannot see. */
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

/** What an expression must give, and how upstream says that it does not. */
interface Wanted {
  readonly type: string;
  /** Before what is said of a mistake in it. */
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
