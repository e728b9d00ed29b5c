/** The errors of expressions: at compile time, at run time, and when the cost exceeds its bound. */

export interface CelIssue {
  /** Offset in the source, in UTF-16 units; negative for an issue of the whole expression. */
  readonly at: number;
  readonly message: string;
}

/** The source is not a valid expression or has a type error. The message shows each place, as cel-go's does. */
export class CelCompileError extends Error {
  readonly issues: readonly CelIssue[];

  constructor(source: string, issues: readonly CelIssue[]) {
    super(issues.map((issue) => issueText(source, issue)).join("\n"));
    this.name = "CelCompileError";
    this.issues = issues;
  }
}

/** The types fit, but a constant cannot be converted to the requested type, as in `int("x")`. */
export class CelConstantError extends CelCompileError {
  constructor(message: string) {
    super("", []);
    this.message = message;
    this.name = "CelConstantError";
  }
}

/** Error text in upstream's words. Upstream finds constant errors in a later stage than other mistakes. */
export function compileFailure(error: CelCompileError): string {
  const stage = error instanceof CelConstantError ? "program instantiation" : "compilation";
  return `${stage} failed: ${error.message}`;
}

/** The expression has no result for these values, as with `1 / 0` or a missing key. */
export class CelEvaluationError extends Error {
  constructor(message: string) {
    // An expression may make and drop many errors. Capturing a stack is slow, and ours would not help its author.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "CelEvaluationError";
  }
}

/** The expression cost more than its budget. No operator absorbs this error. */
export class CelBudgetError extends Error {
  constructor() {
    super("operation cancelled: actual cost limit exceeded");
    this.name = "CelBudgetError";
  }
}

/** Longest line that is shown; for longer ones the position is enough. */
const SNIPPET_MAX = 10_000;

function issueText(source: string, { at, message }: CelIssue): string {
  if (at < 0) return `ERROR: <input>:-1:0: ${message}`;
  const before = source.slice(0, at).split("\n");
  const column = Array.from(before.at(-1) ?? "").length;
  const line = source.split("\n")[before.length - 1] ?? "";
  const place = `ERROR: <input>:${before.length}:${column + 1}: ${message}`;
  if (line.length > SNIPPET_MAX) return place;
  return `${place}\n | ${line.replaceAll("\t", " ")}\n | ${".".repeat(column)}^`;
}
