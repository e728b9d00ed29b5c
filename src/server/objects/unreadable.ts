/** A stored value that is no object: the error names its key and the reason, and nothing of its content. */
import { ApiError } from "../../api/errors/api-error.ts";

interface Problem {
  readonly why: string;
  readonly cause: unknown;
}

export class UnreadableValue extends ApiError {
  constructor(key: string, what: "decode" | "transform", { why, cause }: Problem) {
    const text = `unable to ${what} key ${JSON.stringify(key)}: ${why}`;
    super("InternalError", `Internal error occurred: ${text}`, {
      details: { causes: [{ message: text }] },
      cause,
    });
  }
}
