/** Prints to a stream whose reader may exit (`setpoint up | head`): write errors are ignored, and the cluster keeps running. */
import type { Writable } from "node:stream";

/** The stream is opened at the first print: opening it at start costs time. */
export function printTo(stream: () => Writable): (text: string) => void {
  let known: Writable | undefined;
  return (text) => {
    known ??= stream().on("error", () => undefined);
    known.write(text);
  };
}

/** Colours are on for capable terminals, unless the user turns them off: see no-color.org. */
export function wantsColours(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return stream.isTTY === true && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
}
