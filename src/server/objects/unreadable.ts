/** Error for a stored value that cannot be read. It names the key and the reason, and reveals no content. */
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
