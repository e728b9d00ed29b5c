/** `setpoint up -d`: starts the cluster in a process of its own and waits until it is ready. */
import { readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../api/json/json-object.ts";
import type { Loop } from "../base/loop/loop.ts";
import { pause } from "../base/loop/pause.ts";
import { createRealLoop } from "../base/loop/real/real-loop.ts";
import type { ClusterEvent } from "../cluster/cluster-event.ts";
import { refuseSecondProcess } from "../cluster/data-dir/run-file.ts";
import { componentLogsFolder } from "../cluster/logs/component-logs.ts";
import { startInBackground } from "../cluster/process/background-process.ts";
import type { Arguments, Command, Io, OptionSpec } from "./command.ts";
import { reporter, shellOf } from "./run-reported.ts";
import { runsPrograms } from "./runtime-options.ts";

export const detachOption: OptionSpec = {
  flags: "-d, --detach",
  help: "cluster in the background; returns when it is ready",
};

const LOOK_MS = 50;

export async function runInBackground(
  command: Pick<Command, "name" | "options">,
  dataDir: string,
  { io, args }: { readonly io: Io; readonly args: Arguments },
): Promise<void> {
  const loop = createRealLoop({ name: "background" });
  await refuseSecondProcess(dataDir, loop);
  // Two starts at once must not write to one file.
  const folder = componentLogsFolder(dataDir);
  const outputFile = join(folder, `output-${loop.random("output").uuid()}.log`);
  const child = await startInBackground({
    programFile: io.programFile,
    args: [command.name, ...argumentWords(command.options, args.options), "--json", "--quiet"],
    outputFile,
    env: io.env,
    loop,
  });
  const form = { isWhole: true, isInBackground: true, runsPrograms: runsPrograms(args) };
  const report = reporter(io, args, { form, shell: shellOf(io) });
  const output = new OutputLines(outputFile, loop);
  let hasEnded = false;
  void child.ended.then(() => (hasEnded = true));
  for (;;) {
    // Ended first: its last lines are read after that.
    const isLast = hasEnded;
    if ((await passOn(output, report)) === "ready") break;
    if (io.signal.aborted) {
      child.kill();
      await child.ended;
      throw new Error("interrupted: the cluster was ended");
    }
    if (isLast) throw new Error(`the cluster ended before it was ready: see ${outputFile}`);
    await pause(loop, { ms: LOOK_MS, kind: "progress" }, io.signal);
  }
  // The process goes on writing to it.
  await loop.outside("file", rename(outputFile, join(folder, "output.log")));
}

/** Reports new events until the cluster is ready. Throws the error of a cluster that failed. */
async function passOn(
  output: OutputLines,
  report: (event: ClusterEvent) => void,
): Promise<"ready" | "starting"> {
  for (const line of await output.read()) {
    const value = parsed(line);
    if (isJsonObject(value) && typeof value["error"] === "string") {
      await output.remove();
      throw new Error(value["error"]);
    }
    if (!isJsonObject(value) || typeof value["event"] !== "string") continue;
    const event = value as JsonObject & ClusterEvent;
    report(event);
    if (event.event === "ready") return "ready";
  }
  return "starting";
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

/** Lines that were added to a file since the last read. */
class OutputLines {
  readonly #path: string;
  readonly #loop: Loop;
  #seen = 0;

  constructor(path: string, loop: Loop) {
    this.#path = path;
    this.#loop = loop;
  }

  async read(): Promise<readonly string[]> {
    const text = await this.#loop.outside("file", readFile(this.#path, "utf8"));
    const end = text.lastIndexOf("\n") + 1;
    const lines = text.slice(this.#seen, end).split("\n").slice(0, -1);
    this.#seen = end;
    return lines;
  }

  async remove(): Promise<void> {
    await this.#loop.outside("file", rm(this.#path, { force: true }));
  }
}

/** Options that the parent itself acts on. */
const OWN = ["detach", "json", "quiet"];

/** The words of a command line with these options. */
export function argumentWords(
  specs: readonly OptionSpec[],
  options: Arguments["options"],
): readonly string[] {
  return specs.flatMap(({ flags }) => {
    const flag = /--[\w-]+/.exec(flags)?.[0] ?? "";
    const name = flag.slice(2).replaceAll(/-(\w)/g, (_dash, letter: string) => letter.toUpperCase());
    const value = options[name];
    if (value === undefined || value === false || OWN.includes(name)) return [];
    if (value === true) return [flag];
    // One word, since a value may begin with a dash.
    return (typeof value === "string" ? [value] : value).map((each) => `${flag}=${each}`);
  });
}
