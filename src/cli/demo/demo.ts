/** `setpoint demo`: the story of the loop, on a temporary cluster in memory. */
import { pause } from "../../base/loop/pause.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import type { Command } from "../command.ts";
import { Stage, type Narrator } from "./stage.ts";
import { STORY } from "./story.ts";

/** Reading time of a line and of a scene's end; the whole story takes about a minute. */
const LINE_MS = 350;
const SCENE_MS = 2_500;

export const demoCommand: Command = {
  name: "demo",
  usage: [],
  help: "play the story of the loop in about a minute",
  options: [{ flags: "--fast", help: "without time to read" }],
  async run(io, args) {
    const loop = createRealLoop({ name: "demo" });
    const isFast = args.options["fast"] === true;
    const wait = async (ms: number): Promise<void> => {
      if (!isFast) await pause(loop, { ms, kind: "progress" }, io.signal);
    };
    const narrate: Narrator = async (line) => {
      io.stdout(`${line}\n`);
      await wait(LINE_MS);
    };
    await narrate(
      "A cluster in this process, on a clock that jumps to the next thing to do. Ctrl-C ends it.",
    );
    const stage = await Stage.open({ narrate, style: io.screen?.hasColours === true ? "colour" : "plain" });
    try {
      for (const scene of STORY) {
        if (io.signal.aborted) return;
        await scene.play(stage);
        await wait(SCENE_MS);
      }
      await narrate("\nTry it on a cluster of your own: setpoint up, then docs/learn in the package.");
    } finally {
      await stage.cluster.stop();
    }
  },
};
