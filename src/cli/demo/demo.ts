/** `setpoint demo`: the story of the loop, on a temporary cluster in memory. */
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { wrapText } from "../../insight/text/text-width.ts";
import type { Command, Io } from "../command.ts";
import { ReadingPace } from "./reading-pace.ts";
import { Stage, type Narrator } from "./stage.ts";
import { STORY } from "./story.ts";

/** Reading time of a line and of a scene's end; the whole story takes about a minute. */
const LINE_MS = 350;
const SCENE_MS = 2_500;
/** Width of the story without a terminal. */
const WIDTH_MAX = 116;
const KEYS = "Space pauses, q ends it";

export const demoCommand: Command = {
  name: "demo",
  usage: [],
  help: "play the story of the loop in about a minute",
  options: [{ flags: "--fast", help: "without time to read" }],
  async run(io, args) {
    const isFast = args.options["fast"] === true;
    const pace = new ReadingPace({
      loop: createRealLoop({ name: "demo" }),
      screen: isFast ? undefined : io.screen,
      stdin: io.streams().stdin,
      signal: io.signal,
    });
    const wait = async (ms: number): Promise<void> => {
      if (!isFast) await pace.wait(ms);
      pace.signal.throwIfAborted();
    };
    try {
      await play(io, wait, isFast || io.screen === undefined ? "Ctrl-C ends it" : KEYS);
    } catch (error) {
      if (error !== pace.signal.reason) throw error;
    } finally {
      pace.close();
    }
  },
};

async function play(io: Io, wait: (ms: number) => Promise<void>, keys: string): Promise<void> {
  const narrate: Narrator = async (line) => {
    io.stdout(`${line}\n`, "raw");
    await wait(LINE_MS);
  };
  const columns = io.screen?.full.size.columns ?? WIDTH_MAX;
  const tell = async (text: string): Promise<void> => {
    for (const line of wrapText(text, columns, "")) await narrate(line);
  };
  await tell(`A cluster in this process, on a clock that jumps to the next thing to do. ${keys}.`);
  const style = io.screen?.hasColours === true ? "colour" : "plain";
  const stage = await Stage.open({ narrate, style, columns });
  try {
    for (const scene of STORY) {
      await scene.play(stage);
      await wait(SCENE_MS);
    }
    await narrate("");
    await tell("Try it on a cluster of your own: setpoint up, then docs/learn in the package.");
  } finally {
    await stage.cluster.stop();
  }
}
