import { Event } from "../api/generated/types/core-v1.ts";
import type { Loop } from "../base/loop/loop.ts";
import { pause } from "../base/loop/pause.ts";
import { createRealLoop } from "../base/loop/real/real-loop.ts";
import type { Client } from "../client/client.ts";
import { loopFigures, type Reading } from "../insight/loops/loop-figures.ts";
import { loopsText } from "../insight/loops/loops-text.ts";
import { parseMetrics } from "../insight/loops/metrics-text.ts";
import { accessOptions, connectAs } from "./cluster-access.ts";
import { findText, jsonOption, UsageError, type Arguments, type Command } from "./command.ts";

const CLEAR_SCREEN = "\u001B[H\u001B[2J";

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
    const connection = await connectAs(io, args, loop);
    try {
      const { client } = connection;
      let before = await read(client, loop);
      while (!io.signal.aborted) {
        await pause(loop, { ms: intervalMs, kind: "progress" }, io.signal);
        if (io.signal.aborted) return;
        const after = await read(client, loop);
        const fights = await client(Event).list({ fieldSelector: "reason=HotLoop" });
        const figures = loopFigures(before, after);
        if (isJson)
          io.stdout(
            `${JSON.stringify({ loops: figures, fights: fights.items.map(({ message }) => message) })}\n`,
          );
        else io.stdout(`${isOnce ? "" : CLEAR_SCREEN}${loopsText(figures, fights.items)}`);
        if (isOnce) return;
        before = after;
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

async function read(client: Client, loop: Loop): Promise<Reading> {
  const text = await client.request({ path: "/metrics" });
  return { samples: parseMetrics(String(text)), at: loop.elapsed() };
}
