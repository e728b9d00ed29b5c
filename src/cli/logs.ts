import { existsSync } from "node:fs";
import { pause } from "../base/loop/pause.ts";
import { createRealLoop } from "../base/loop/real/real-loop.ts";
import { componentLogsFolder, LOG_COMPONENTS } from "../cluster/logs/component-logs.ts";
import { LogReader, type LogRecord } from "../cluster/logs/read-logs.ts";
import { parsePlace } from "./cluster-place.ts";
import { findText, jsonOption, UsageError, type Arguments, type Command, type Io } from "./command.ts";
import { podLogOptions, printPodLogs } from "./verbs/pod-logs.ts";
import { verbOptions } from "./verbs/verb-options.ts";
import { withSession } from "./verbs/verb-session.ts";

const TAIL = "100";
const LOOK_MS = 200;

export const logsCommand: Command = {
  name: "logs",
  isKubectlVerb: true,
  usage: ["[pod]"],
  help: "show the log of POD or TYPE/NAME, or the cluster's own",
  options: [
    { flags: "-f, --follow", help: "new lines too, until Ctrl-C" },
    { flags: "--tail <count>", help: "last lines to show (a pod's: all; -l: 10; else 100)" },
    ...podLogOptions,
    ...verbOptions,
    { flags: "--component <name>", help: "messages of one component", choices: LOG_COMPONENTS },
    { ...jsonOption, help: "one JSON line per message instead of text" },
  ],
  async run(io, args) {
    const pod = args.operands["pod"] ?? "";
    const isSelected = findText(args, "selector") !== undefined;
    if (isSelected && pod !== "") throw new UsageError("a selector chooses pods: give no name beside it");
    if (isSelected || pod !== "")
      return withSession(io, args, (session) => printPodLogs(session, isSelected ? undefined : pod));
    const { dataDir } = parsePlace(io, args);
    const tail = parseTail(args);
    if (!existsSync(componentLogsFolder(dataDir)))
      throw new Error(`there are no logs in ${dataDir}: start a cluster with setpoint up`);
    const loop = createRealLoop({ name: "logs" });
    const chosen = findText(args, "component");
    const components = LOG_COMPONENTS.filter((name) => chosen === undefined || name === chosen);
    const reader = new LogReader(dataDir, { components, loop });
    print(io, args, tail === 0 ? [] : (await reader.read()).slice(-tail));
    if (args.options["follow"] !== true) return;
    while (!io.signal.aborted) {
      await pause(loop, { ms: LOOK_MS, kind: "progress" }, io.signal);
      print(io, args, await reader.read());
    }
  },
};

function parseTail(args: Arguments): number {
  const text = findText(args, "tail") ?? TAIL;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`--tail must be a number of messages, found "${text}"`);
}

function print(io: Io, args: Arguments, records: readonly LogRecord[]): void {
  const lineOf = args.options["json"] === true ? (record: LogRecord) => JSON.stringify(record) : textOf;
  if (records.length > 0) io.stdout(records.map((record) => `${lineOf(record)}\n`).join(""));
}

const WIDTH = Math.max(...LOG_COMPONENTS.map((name) => name.length));

function textOf({ component, text }: LogRecord): string {
  return `${component.padEnd(WIDTH)} ${text}`;
}
