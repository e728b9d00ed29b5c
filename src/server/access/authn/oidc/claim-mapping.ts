/**
 * Maps the verified claims of a token to a user: rules and mappings, by claim name or in CEL. Compiled once;
 * evaluation has no side effects.
 */
import { CelBudgetError, CelEvaluationError } from "../../../../api/cel/cel-error.ts";
import { itemsOf, jsonToValue } from "../../../../api/cel/cel-json-value.ts";
import { CALL_BUDGET, compileCel } from "../../../../api/cel/program.ts";
import type { Program } from "../../../../api/cel/program.ts";
import { DYN, STRING, listOf, mapOf, objectType } from "../../../../api/cel/type.ts";
import type { CelType } from "../../../../api/cel/type.ts";
import { CelList } from "../../../../api/cel/value.ts";
import type { CelValue } from "../../../../api/cel/value.ts";
import type { JsonObject } from "../../../../api/json/json-object.ts";
import type { User } from "../../../request/user.ts";
import type { ClaimRule, ExpressionRule, JwtRules, MappedText } from "./configuration.ts";

/** Reason why claims yield no user. */
export class ClaimError extends Error {
  override readonly name = "ClaimError";
}

export type ClaimMapping = (claims: JsonObject) => User;

const CLAIMS = mapOf(STRING, DYN);
const USER_FIELDS: ReadonlyMap<string, CelType> = new Map([
  ["username", STRING],
  ["uid", STRING],
  ["groups", listOf(STRING)],
  ["extra", mapOf(STRING, listOf(STRING))],
]);
const USER = objectType("kubernetes.UserInfo", {
  names: [...USER_FIELDS.keys()],
  find: (name) => {
    const type = USER_FIELDS.get(name);
    return type === undefined ? undefined : { type, jsonName: name };
  },
});

/** Throws a CelCompileError for an invalid expression, or an Error for one of another type. */
export function compileOverClaims(expression: string, types: readonly string[]): Program {
  return compileTyped(expression, { variable: "claims", type: CLAIMS, types });
}

export function compileOverUser(expression: string): Program {
  return compileTyped(expression, { variable: "user", type: USER, types: ["bool"] });
}

/** Allowed result types for several strings. A claim's type is only known at evaluation. */
export const TEXTS: readonly string[] = ["string", "list", "dyn"];

interface Typing {
  readonly variable: string;
  readonly type: CelType;
  readonly types: readonly string[];
}

function compileTyped(expression: string, { variable, type, types }: Typing): Program {
  const program = compileCel(expression, { variables: new Map([[variable, type]]) });
  if (types.includes(program.type.name)) return program;
  throw new Error(`must evaluate to ${types.filter((each) => each !== "dyn").join(" or ")}`);
}

/** The rules were validated when they were read. The mapping throws a ClaimError for claims that the rules reject. */
export function claimMapping(rules: JwtRules): ClaimMapping {
  const checks = rules.claimRules.map(claimCheck);
  const username = textMapping(rules.username, "username");
  const groups = rules.groups === undefined ? () => [] : textsMapping(rules.groups);
  const uid = rules.uid === undefined ? () => "" : textMapping(rules.uid, "uid");
  const extra = rules.extra.map(({ key, valueExpression }) => ({
    key,
    program: compileOverClaims(valueExpression, TEXTS),
  }));
  const userChecks = rules.userRules.map(userCheck);
  return (claims) => {
    for (const check of checks) check(claims);
    const name = username(claims);
    if (name === "") throw new ClaimError("the username is empty");
    const user: User = {
      name,
      uid: uid(claims),
      groups: groups(claims),
      extra: extraOf(extra, claims),
    };
    for (const check of userChecks) check(user);
    return { ...user, groups: [...user.groups, "system:authenticated"] };
  };
}

function claimCheck(rule: ClaimRule): (claims: JsonObject) => void {
  if (rule.type === "expression") {
    const program = compileOverClaims(rule.expression, ["bool"]);
    return (claims) => require(run(program, "claims", jsonToValue(CLAIMS, claims)), rule);
  }
  const { claim, value } = rule;
  return (claims) => {
    const found = claimAt(claims, claim);
    if (found === undefined) throw new ClaimError(`required claim ${claim} not present in ID token`);
    if (found !== value)
      throw new ClaimError(`required claim ${claim} value does not match, expected ${JSON.stringify(value)}`);
  };
}

function userCheck(rule: ExpressionRule): (user: User) => void {
  const program = compileOverUser(rule.expression);
  return ({ name, uid, groups, extra }) => {
    const value = { username: name, uid, groups, extra };
    require(run(program, "user", jsonToValue(USER, value)), rule);
  };
}

function require(outcome: CelValue, { expression, message }: ExpressionRule): void {
  if (outcome === true) return;
  throw new ClaimError(
    message === "" ? `validation expression ${JSON.stringify(expression)} failed` : message,
  );
}

type Mapping<T> = (claims: JsonObject) => T;

function textMapping(mapped: MappedText, what: string): Mapping<string> {
  if (mapped.type === "expression") {
    const program = compileOverClaims(mapped.expression, ["string", "dyn"]);
    return (claims) => {
      const value = run(program, "claims", jsonToValue(CLAIMS, claims));
      if (typeof value !== "string") throw new ClaimError(`${what}: the expression must give a string`);
      return value;
    };
  }
  const { claim, prefix } = mapped;
  return (claims) => {
    const value = claimAt(claims, claim);
    if (value === undefined) throw new ClaimError(`parse ${what} claims "${claim}": claim not present`);
    if (typeof value !== "string")
      throw new ClaimError(`parse ${what} claims "${claim}": the claim is not a string`);
    if (claim === "email" && what === "username") requireVerifiedEmail(claims);
    return value === "" ? "" : prefix + value;
  };
}

/** An unverified email address could belong to another person. */
function requireVerifiedEmail(claims: JsonObject): void {
  const isVerified = claimAt(claims, "email_verified");
  if (isVerified !== undefined && isVerified !== true) throw new ClaimError("email not verified");
}

function textsMapping(mapped: MappedText): Mapping<readonly string[]> {
  if (mapped.type === "expression") {
    const program = compileOverClaims(mapped.expression, TEXTS);
    return (claims) => textsOf(run(program, "claims", jsonToValue(CLAIMS, claims)), "groups");
  }
  const { claim, prefix } = mapped;
  return (claims) => {
    const value = claimAt(claims, claim);
    if (value === undefined || value === null) return [];
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    return values.map((group) => {
      if (typeof group !== "string")
        throw new ClaimError(`parse groups claim "${claim}": it contains a value that is not a string`);
      return prefix + group;
    });
  };
}

interface CompiledExtra {
  readonly key: string;
  readonly program: Program;
}

function extraOf(compiled: readonly CompiledExtra[], claims: JsonObject): User["extra"] {
  const entries: [string, readonly string[]][] = [];
  for (const { key, program } of compiled) {
    const values = textsOf(run(program, "claims", jsonToValue(CLAIMS, claims)), `extra ${key}`);
    if (values.length > 0) entries.push([key, values]);
  }
  return Object.fromEntries(entries);
}

/** Empty strings, empty lists and null all mean no value. */
function textsOf(value: CelValue, what: string): readonly string[] {
  if (value === null || value === "") return [];
  const values = value instanceof CelList ? itemsOf(value) : [value];
  return values.map((item) => {
    if (typeof item !== "string")
      throw new ClaimError(`${what}: the expression must give a string or a list of strings`);
    return item;
  });
}

function run(program: Program, variable: string, value: CelValue): CelValue {
  try {
    return program.evaluate({ [variable]: value }, { budget: CALL_BUDGET });
  } catch (error) {
    if (!(error instanceof CelEvaluationError || error instanceof CelBudgetError)) throw error;
    throw new ClaimError(`error evaluating expression: ${error.message}`, { cause: error });
  }
}

function claimAt(claims: JsonObject, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}
