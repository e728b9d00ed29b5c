/** `setpoint top loops`: the controllers live, or a reading at a time as text. */
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { loopsText } from "../../insight/loops/loops-text.ts";
import { accessOptions, connectAs } from "../cluster-access.ts";
import { findText, jsonOption, UsageError, type Arguments, type Command } from "../command.ts";
import { colourDepth } from "../terminal/style.ts";
import { keepReading, readLoops } from "./loops-reading.ts";
import { showLoops } from "./loops-screen.ts";

export const topCommand: Command = {
  name: "top",
  usage: ["what"],
  help: "show the controllers live: setpoint top loops",
  options: [
    { flags: "--once", help: "one reading of two seconds, then exit" },
    { flags: "--interval <seconds>", help: "time between readings", fallback: "2" },
    ...accessOptions,
    jsonOption,
  ],
  async run(io, args) {
    if (args.operands["what"] !== "loops")
      throw new UsageError(`top shows loops, found "${args.operands["what"] ?? ""}"`);
    const intervalMs = parseInterval(args);
    const isJson = args.options["json"] === true;
    const isOnce = args.options["once"] === true || isJson;
    const loop = createRealLoop({ name: "top" });
    const connection = await connectAs(io, args, { loop });
    const { client } = connection;
    try {
      if (io.screen !== undefined && !isOnce) {
        const { full: screen, hasColours } = io.screen;
        const parts = { screen, loop, depth: colourDepth(hasColours, io.env) };
        return await showLoops(
          (signal) => keepReading(client, loop, { intervalMs, signal }),
          parts,
          io.signal,
        );
      }
      for await (const { loops, fights } of readLoops(client, loop, { intervalMs, signal: io.signal })) {
        const messages = fights.map(({ message }) => message);
        io.stdout(isJson ? `${JSON.stringify({ loops, fights: messages })}\n` : loopsText(loops, fights));
        if (isOnce) return;
      }
    } finally {
      await connection.close();
    }
  },
};

function parseInterval(args: Arguments): number {
  const text = findText(args, "interval") ?? "";
  const seconds = Number(text);
  if (text === "" || !(seconds >= 0.1 && seconds <= 3600))
    throw new UsageError(`--interval must be a number of seconds from 0.1 to 3600, found "${text}"`);
  return seconds * 1000;
}
