/** How a command ended, and how the protocols write it: as a Status object, or as the text of an error. */
import type { CommandProtocol } from "./protocols.ts";

export type CommandResult =
  | { readonly type: "exited"; readonly code: number }
  /** The command did not run, or lost its connection. */
  | { readonly type: "failed"; readonly message: string };

const EXIT_REASON = "NonZeroExitCode";
const EXIT_CAUSE = "ExitCode";

export function resultText(result: CommandResult, { hasStatus }: CommandProtocol): string {
  if (result.type === "exited" && result.code === 0)
    return hasStatus ? JSON.stringify({ metadata: {}, status: "Success" }) : "";
  const { message } = failureOf(result);
  return hasStatus ? JSON.stringify({ metadata: {}, status: "Failure", ...failureOf(result) }) : message;
}

function failureOf(result: CommandResult): { readonly message: string; readonly reason: string } {
  if (result.type === "failed") {
    const message = `Internal error occurred: ${result.message}`;
    const details = { causes: [{ message: result.message }] };
    return { message, reason: "InternalError", ...{ details, code: 500 } };
  }
  const message = `command terminated with non-zero exit code: exit status ${result.code}`;
  const details = { causes: [{ reason: EXIT_CAUSE, message: String(result.code) }] };
  return { message, reason: EXIT_REASON, ...{ details } };
}

/** Reads a result. Text that is no Status is an error's. */
export function parseResult(text: string, { hasStatus }: CommandProtocol): CommandResult {
  if (!hasStatus) return text === "" ? { type: "exited", code: 0 } : { type: "failed", message: text };
  const status = parsedStatus(text);
  if (status === undefined) return { type: "failed", message: text === "" ? "connection closed" : text };
  if (status.status === "Success") return { type: "exited", code: 0 };
  const cause = status.details?.causes?.find(({ reason }) => reason === EXIT_CAUSE);
  const code = Number(cause?.message);
  if (status.reason === EXIT_REASON && Number.isInteger(code)) return { type: "exited", code };
  return { type: "failed", message: status.message ?? "" };
}

interface WrittenStatus {
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] };
}

function parsedStatus(text: string): WrittenStatus | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
