import type { StreamSession } from "./runtime-handler.ts";

/** Session of an exec or attach that cannot begin; the message is for the client. */
export function failedSession(message: string): StreamSession {
  return {
    stdin: undefined,
    stdout: undefined,
    stderr: undefined,
    resize: () => undefined,
    ended: Promise.resolve({ type: "failed", message }),
    close: () => undefined,
  };
}
