/** What can go wrong with an expression: before it runs, while it runs, and when it runs for too long. */

export interface CelIssue {
  /** Offset in the source, in UTF-16 units; negative for what is said of the whole. */
  readonly at: number;
  readonly message: string;
}

/** The text is no expression, or its types do not fit. The message names each place, as cel-go does. */
export class CelCompileError extends Error {
  readonly issues: readonly CelIssue[];

  constructor(source: string, issues: readonly CelIssue[]) {
    super(issues.map((issue) => issueText(source, issue)).join("\n"));
    this.name = "CelCompileError";
    this.issues = issues;
  }
}

/** The types fit, but a value that is written down cannot be converted to what the expression says. */
export class CelConstantError extends CelCompileError {
  constructor(message: string) {
    super("", []);
    this.message = message;
    this.name = "CelConstantError";
  }
}

/** In the words of upstream, which finds one kind of mistakes later than the other. */
export function compileFailure(error: CelCompileError): string {
  const stage = error instanceof CelConstantError ? "program instantiation" : "compilation";
  return `${stage} failed: ${error.message}`;
}

/** A value for which the expression has no result, as `1 / 0` or a key that is not there. */
export class CelEvaluationError extends Error {
  constructor(message: string) {
    // An expression may make many of these and need none. Where our own code was says nothing of them, and takes long to find.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "CelEvaluationError";
  }
}

/** The expression cost more than its caller wants to spend. No operator absorbs this one. */
export class CelBudgetError extends Error {
  constructor() {
    super("operation cancelled: actual cost limit exceeded");
    this.name = "CelBudgetError";
  }
}

/** Of a long line only this much is shown, as the position alone says enough. */
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
