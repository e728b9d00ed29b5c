/** Options that name a moment of the past. */
import { parseMoment, type Moment } from "../insight/past/moment.ts";
import { findText, UsageError, type Arguments, type OptionSpec } from "./command.ts";

export const fromOption: OptionSpec = {
  flags: "--from <moment>",
  help: "begin: a revision, a time, or -10m",
};

/** Undefined when the option is not given. */
export function findMoment(args: Arguments, name: string, now: number): Moment | undefined {
  const text = findText(args, name);
  if (text === undefined) return undefined;
  try {
    return parseMoment(text, now);
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`--${name}: ${error.message}`);
    throw error;
  }
}
