/** The stack of an error for a log, with those of its causes. */
import { errorText } from "../error-text.ts";

/** Upper bound of the causes shown. */
const CAUSES_MAX = 3;

/** Lines that name the calls; undefined for a value without a stack. */
export function stackText(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const lines = [...framesOf(error)];
  let { cause } = error;
  for (let count = 0; count < CAUSES_MAX && cause !== undefined; count++) {
    lines.push(`caused by: ${errorText(cause)}`, ...framesOf(cause));
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return lines.length === 0 ? undefined : lines.join("\n");
}

function framesOf(error: unknown): readonly string[] {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  return stack
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.startsWith("at "));
}
