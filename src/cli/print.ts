/** Prints to a stream whose reader may leave (`setpoint up | head`): a cluster goes on without them, and there is nobody to tell. */
import type { Writable } from "node:stream";

/** The stream is asked for when there is something to print: to make it costs time at the start. */
export function printTo(stream: () => Writable): (text: string) => void {
  let known: Writable | undefined;
  return (text) => {
    known ??= stream().on("error", () => undefined);
    known.write(text);
  };
}

/** Colours are for terminals that have them, unless people say otherwise: see no-color.org. */
export function wantsColours(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return stream.isTTY === true && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
}
