/** `setpoint watch`: the cluster live in the terminal. */
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { accessOptions, connectAs } from "../cluster-access.ts";
import { findText, type Arguments, type Command, type Io } from "../command.ts";
import { printFrame } from "../terminal/paint.ts";
import { colourDepth } from "../terminal/style.ts";
import type { FeedScope } from "./feeds.ts";
import type { Glyphs } from "./pod-marks.ts";
import { WatchSession } from "./watch-session.ts";

/** Size of a snapshot where no terminal tells one. */
const SNAPSHOT = { columns: 100, rows: 40 };

export const watchCommand: Command = {
  name: "watch",
  usage: [],
  help: "show the cluster live: nodes, pods, Events (? for keys)",
  options: [
    { flags: "--once", help: "print one picture, then exit" },
    { flags: "-n, --namespace <name>", help: "only pods of this namespace (default: all)" },
    { flags: "-l, --selector <selector>", help: "only pods with these labels" },
    ...accessOptions,
  ],
  async run(io, args) {
    const isOnce = args.options["once"] === true;
    const screen = io.screen?.full;
    if (screen === undefined && !isOnce)
      throw new Error("watch needs a terminal for input and output: print one picture with --once");
    const loop = createRealLoop({ name: "watch" });
    const connection = await connectAs(io, args, { loop });
    const hasColours = io.screen?.hasColours === true;
    const depth = colourDepth(hasColours, io.env);
    try {
      const session = new WatchSession({
        loop,
        client: connection.client,
        transport: connection.transport,
        scope: scopeOf(args),
        title: findText(args, "context") ?? findText(args, "name") ?? "setpoint",
        glyphs: glyphsFor(hasColours, io),
        depth,
      });
      if (isOnce || screen === undefined)
        io.stdout(printFrame(await session.snapshot(screen?.size ?? SNAPSHOT, io.signal), depth), "raw");
      else await session.run(screen, io.signal);
    } finally {
      await connection.close();
    }
  },
};

function scopeOf(args: Arguments): FeedScope {
  const namespace = findText(args, "namespace");
  const labelSelector = findText(args, "selector");
  return {
    ...(namespace !== undefined && { namespace }),
    ...(labelSelector !== undefined && { labelSelector }),
  };
}

/** A locale that names no UTF-8 gets plain characters; one that is not set says nothing. */
function glyphsFor(hasColours: boolean, { env }: Pick<Io, "env">): Glyphs {
  const locale = [env["LC_ALL"], env["LC_CTYPE"], env["LANG"]].find(
    (text) => text !== undefined && text !== "",
  );
  if (locale !== undefined && !/utf-?8/i.test(locale)) return "ascii";
  return hasColours ? "shapes" : "letters";
}
