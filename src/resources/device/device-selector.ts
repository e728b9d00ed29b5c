/** Compiles the CEL expressions that select devices. Error texts equal upstream's. */

import { CelCompileError, compileFailure } from "../../api/cel/cel-error.ts";
import { compileCel, type Program } from "../../api/cel/program.ts";
import { BOOL, type CelType, DYN, mapOf, namedType, STRING, declaredTypeText } from "../../api/cel/type.ts";
import type { SizeHints } from "../../api/cel/value-path.ts";
import type { FieldErrors, FieldPath } from "../../api/errors/field-error.ts";
import { recordType } from "../admission/match-condition.ts";

const EXPRESSION_MAX_BYTES = 10 * 1024;
const COST_MAX = 1_000_000n;
/** Upper bound for all expressions of one object together. Compiling more would delay every other request. */
const CHARS_MAX = 100_000;

/** Upper bounds of the variable's parts; the cost estimate of an expression follows from them. */
const DRIVER_MAX = 63;
const DOMAIN_MAX = 63;
const NAME_MAX = 32;
const ENTRIES_MAX = 32;
/** Upper bound of an attribute that is text. */
const VALUE_MAX = 64;

function text(maxSize: number): CelType {
  return { ...STRING, maxSize };
}

/** Keyed by domain, then by name. */
function entries(value: CelType): CelType {
  const names = { ...mapOf(text(NAME_MAX), value), maxSize: ENTRIES_MAX };
  return { ...mapOf(text(DOMAIN_MAX), names), maxSize: ENTRIES_MAX };
}

/** Its type depends on the device. */
const ATTRIBUTE: CelType = { ...DYN, maxSize: VALUE_MAX };

const DEVICE = recordType("kubernetes.DRADevice", {
  driver: text(DRIVER_MAX),
  attributes: entries(ATTRIBUTE),
  capacity: entries(namedType("kubernetes.Quantity")),
  allowMultipleAllocations: BOOL,
});
const VARIABLES: ReadonlyMap<string, CelType> = new Map([["device", DEVICE]]);

const HINTS: SizeHints = {
  rootOf: (variable) => (variable === "device" ? DEVICE : undefined),
  entryOf: (map) => (map.parameters[1] === ATTRIBUTE ? ATTRIBUTE : undefined),
};

type Verdict =
  | { readonly type: "good" }
  | { readonly type: "invalid"; readonly detail: string }
  | { readonly type: "forbidden"; readonly detail: string };

const GOOD: Verdict = { type: "good" };

interface Inspection {
  charsLeft: number;
  readonly verdicts: Map<string, Verdict>;
}

/** One for each validated object, found by its FieldErrors. */
const inspections = new WeakMap<FieldErrors, Inspection>();

export function checkSelectorExpression(expression: string, path: FieldPath, errors: FieldErrors): void {
  if (expression === "") return errors.required(path);
  if (Buffer.byteLength(expression) > EXPRESSION_MAX_BYTES) return errors.tooLong(path, EXPRESSION_MAX_BYTES);
  const inspection = inspections.get(errors) ?? {
    charsLeft: CHARS_MAX,
    verdicts: new Map<string, Verdict>(),
  };
  inspections.set(errors, inspection);
  const verdict = inspection.verdicts.get(expression) ?? judge(expression, inspection);
  inspection.verdicts.set(expression, verdict);
  if (verdict.type === "invalid") errors.invalid(path, expression, verdict.detail);
  if (verdict.type === "forbidden") errors.forbidden(path, verdict.detail);
}

function judge(expression: string, inspection: Inspection): Verdict {
  inspection.charsLeft -= expression.length;
  if (inspection.charsLeft < 0) {
    const detail = `all expressions together must not be longer than ${String(CHARS_MAX)} characters`;
    return { type: "forbidden", detail };
  }
  const program = compileSelector(expression);
  if (program instanceof CelCompileError) return { type: "invalid", detail: compileFailure(program) };
  const given = declaredTypeText(program.type);
  if (given !== "bool" && given !== "dyn")
    return { type: "invalid", detail: `must evaluate to bool or the unknown type, not ${given}` };
  return program.estimate(HINTS) > COST_MAX
    ? { type: "forbidden", detail: "too complex, exceeds cost limit" }
    : GOOD;
}

/** The expression has one variable, `device`, with a value from `deviceValue`. */
export function compileSelector(expression: string): Program | CelCompileError {
  try {
    return compileCel(expression, { variables: VARIABLES, bindings: "allowed" });
  } catch (error) {
    if (error instanceof CelCompileError) return error;
    throw error;
  }
}
