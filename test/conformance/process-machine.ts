/** A machine for process pods in tests: a temporary data dir, and the isolation that is permitted here. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findIsolation, type Isolation } from "../../src/agent/process/isolation.ts";
import { ProcessHandler, type ProcessHandlerOptions } from "../../src/agent/process/process-handler.ts";
import { listProcesses, signalGroup } from "../../src/agent/process/process-table.ts";
import type { RuntimeListener } from "../../src/agent/runtime-handler.ts";
import { silentLog } from "../../src/base/log/log.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { realTime, type FixtureTime } from "./open-store-fixture.ts";
import type { HandlerMachine } from "./runtime-handler-suite.ts";

export const SHARED: Isolation = { type: "shared", reason: "the test wants it" };

/** Isolation with namespaces, or the reason for which a test of them is skipped. */
export async function namespacesHere(): Promise<Isolation> {
  return findIsolation(createRealLoop({ name: "test" }));
}

export class ProcessMachine implements AsyncDisposable {
  readonly folder: string;
  readonly time: FixtureTime = realTime();
  readonly #isolation: Isolation;

  /** The folder is removed with the machine. */
  constructor(isolation: Isolation, folder = mkdtempSync(join(tmpdir(), "setpoint-process-"))) {
    this.#isolation = isolation;
    this.folder = folder;
  }

  create(listener: RuntimeListener, options: Partial<ProcessHandlerOptions> = {}): ProcessHandler {
    return new ProcessHandler({
      loop: this.time.loop,
      log: silentLog,
      dataDir: this.folder,
      isolation: this.#isolation,
      images: [],
      endPods: undefined,
      listener,
      ...options,
    });
  }

  /** Processes that belong to the machine's pods. */
  processes(): readonly string[] {
    return listProcesses().flatMap((row) => (row.arguments.includes(this.folder) ? [row.arguments] : []));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { arguments: words, group } of listProcesses())
      if (words.includes(`${this.folder}/`)) signalGroup(group, "SIGKILL");
    await this.time.stop();
    if (existsSync(this.folder)) rmSync(this.folder, { recursive: true, force: true });
  }
}

/** For the suite of handlers. */
export async function openMachine(isolation: Isolation): Promise<HandlerMachine> {
  const machine = new ProcessMachine(isolation);
  return {
    time: machine.time,
    waitMs: 10,
    create: (listener: RuntimeListener) => machine.create(listener),
    image: "none",
    folder: machine.folder,
    [Symbol.asyncDispose]: () => machine[Symbol.asyncDispose](),
  };
}
