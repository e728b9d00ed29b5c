/** Reads the log of a component as `kubectl logs` shows it, across rotated files. */
import { readdir } from "node:fs/promises";
import { basename, dirname, join, parse } from "node:path";
import type { Readable } from "node:stream";
import { isMissing } from "../../agent/logs/log-files.ts";
import type { LogLine } from "../../agent/logs/log-line.ts";
import { readLogFiles } from "../../agent/logs/log-reader.ts";
import type { LineParser } from "../../agent/logs/log-text.ts";
import type { LogActivity } from "../../agent/logs/log-writer.ts";
import type { LogView } from "../../agent/runtime-handler.ts";
import type { Loop } from "../../base/loop/loop.ts";

/** Interval at which a follower looks for new lines. */
const LOOK_MS = 250;
/** `2026-11-19T04:10:16.123Z info  started`: the file's lines begin with their time. */
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z(?= )/;
const TIME_CHARS = 24;

/** Destroying the stream ends the reading. */
export function readComponentLog(path: string, view: LogView, loop: Loop): Readable {
  const source = { path, listRotated: () => listBackups(path), parse: createParser() };
  return readLogFiles(source, view, new PolledActivity(loop));
}

/** Lines without a time, such as the frames of a stack, have that of the line above. */
function createParser(): LineParser {
  let time = "";
  return (text): LogLine | undefined => {
    time = TIME.exec(text.toString("latin1", 0, TIME_CHARS + 1))?.[0] ?? time;
    return time === "" ? undefined : { time, stream: "stdout", isPartial: false, text };
  };
}

/** Backups of `kubelet.log` have names like `kubelet-2026-11-15T10-33-04.123.log`, which sort by time. */
async function listBackups(path: string): Promise<readonly string[]> {
  const { name, ext } = parse(basename(path));
  const names = await readdir(dirname(path)).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  const isBackup = (each: string): boolean =>
    each.startsWith(`${name}-`) && each.endsWith(ext) && /^\d{4}-/.test(each.slice(name.length + 1));
  return names
    .filter(isBackup)
    .toSorted()
    .map((each) => join(dirname(path), each));
}

/** The log grows as long as the component runs. Its writer does not know its readers. */
class PolledActivity implements LogActivity {
  readonly isComplete = false;
  readonly version = 0;
  readonly #loop: Loop;

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  onChange(_version: number, callback: () => void): () => void {
    const timer = this.#loop.timer(this.#loop.now() + LOOK_MS, "periodic", callback);
    return () => timer.cancel();
  }
}
