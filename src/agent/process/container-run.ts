/**
 * Follows one run of a container from the start of its shim to its end: output, start, exit. A later agent process
 * follows a run that it finds in the same way.
 */
import { spawn } from "node:child_process";
import { existsSync, watch, type FSWatcher } from "node:fs";
import { join } from "node:path";
import type { Loop, Timer } from "../../base/loop/loop.ts";
import type { LogWriter } from "../logs/log-writer.ts";
import type { ContainerExit, StopOrder } from "../runtime-handler.ts";
import { commandEnvironment } from "./command-environment.ts";
import { OutputPump, type OutputTap } from "./output-pump.ts";
import { isAlive, sendSignal } from "./process-table.ts";
import type { ProcessTree } from "./process-tree.ts";
import { readExit, readIdentity, readStart, writeExit, type RunRecord } from "./run-folder.ts";

/** Time between two looks where the machine reports every change. */
const LOOK_MS = 20_000;
/** Time between two looks where it does not: no folder watch, or a shim that is no child of this process. */
const BLIND_LOOK_MS = 5000;
/** Rest after a pass that failed. */
const REST_MS = 4000;
/** Time for the last output after the program has ended. Processes that left the program may keep it open. */
const DRAIN_MS = 3000;
/** As a shell says it: 128 + SIGKILL. */
const KILLED = 137;

const ENDED_EARLY = "the container ended before its program was started";

export type RunReport =
  | { readonly type: "started"; readonly at: number }
  | { readonly type: "start-failed"; readonly message: string }
  | ({ readonly type: "exited" } & ContainerExit);

export interface ContainerRunOptions {
  readonly loop: Loop;
  readonly folder: string;
  readonly record: RunRecord;
  readonly log: LogWriter;
  readonly tree: ProcessTree;
  /** Adds to an exit what the machine and the log know of it. */
  readonly explainExit: (exitCode: number) => Promise<Pick<ContainerExit, "reason" | "advice">>;
  readonly failed: (error: unknown) => void;
}

export class ContainerRun {
  readonly record: RunRecord;
  readonly log: LogWriter;
  readonly folder: string;
  readonly #options: ContainerRunOptions;
  readonly #pump: OutputPump;
  /** Nothing is looked at any more. */
  #isReleased = false;
  /** Whether the end of the shim is reported to this process. */
  #isOwnChild = false;
  #watcher: FSWatcher | undefined;
  #timer: Timer | undefined;
  #killTimer: Timer | undefined;
  #killAt = Infinity;
  #stopSignal: string | undefined;
  #looking: Promise<void> | undefined;
  #lookAgain = false;
  /** No pass before this time: the last one failed, for example because the disk is full. */
  #restsUntil = 0;
  #hasStarted = false;
  #exit: ContainerExit | undefined;
  /** Undefined until `listen`; reports wait until then. */
  #listener: ((report: RunReport) => void) | undefined;
  readonly #unheard: RunReport[] = [];
  readonly #waiting = new Set<() => void>();
  /** Time of the exit, once it is seen. */
  #drainsUntil: number | undefined;

  constructor(options: ContainerRunOptions) {
    this.#options = options;
    this.record = options.record;
    this.folder = options.folder;
    this.log = options.log;
    this.#pump = new OutputPump(options.folder, options.log, options.loop);
  }

  /** Undefined while the program runs. */
  get exit(): ContainerExit | undefined {
    return this.#exit;
  }

  /** First process in the container's namespaces; undefined while the program does not run. */
  get firstPid(): number | undefined {
    return this.#exit === undefined && this.#hasStarted ? this.#options.tree.findFirst()?.pid : undefined;
  }

  processes(): readonly number[] {
    return this.#options.tree.processes();
  }

  /** Starts the shim with the command. */
  async start(shim: string, command: readonly string[]): Promise<void> {
    await this.#pump.open();
    const { token } = this.record;
    const child = spawn("sh", [shim, token, this.folder, ...command], {
      detached: true,
      stdio: "ignore",
      cwd: "/",
      env: commandEnvironment(),
    });
    child.once("error", (error) => this.#failStart(`cannot start sh: ${error.message}`));
    child.once("exit", () => this.#look());
    child.unref();
    this.#isOwnChild = true;
    this.#follow();
  }

  /** Takes over a run that an earlier agent process started, or that has ended meanwhile. */
  async adopt(): Promise<void> {
    this.#hasStarted = readStart(this.folder)?.type === "started";
    await this.#pump.open();
    this.#follow();
    await this.#looking;
  }

  /** Gets the reports that there were already, and all to come. */
  listen(listener: (report: RunReport) => void): void {
    this.#listener = listener;
    for (const report of this.#unheard.splice(0)) listener(report);
  }

  /** Reports nothing more. */
  silence(): void {
    this.#listener = () => undefined;
  }

  stop({ signal = "SIGTERM", graceMs }: StopOrder): void {
    if (this.#exit !== undefined) return;
    const { loop } = this.#options;
    if (this.#stopSignal !== signal) this.#signalProgram(signal);
    this.#stopSignal = signal;
    const killAt = loop.now() + graceMs;
    if (killAt >= this.#killAt) return;
    this.#killAt = killAt;
    this.#killTimer?.cancel();
    this.#killTimer = loop.timer(killAt, "progress", () => this.kill());
  }

  kill(): void {
    if (this.#exit === undefined) this.#options.tree.kill();
  }

  /** Reports nothing more. Resolves when nothing of the run is left. */
  async remove(): Promise<void> {
    this.silence();
    this.kill();
    await this.ended;
  }

  /** Stops following; the container runs on. */
  async leave(): Promise<void> {
    this.silence();
    this.#release();
    await this.#looking;
    await this.#pump.close();
  }

  /** Output from now on. Returns a function that ends this. */
  tap(tap: OutputTap): () => void {
    return this.#pump.tap(tap);
  }

  /** Resolves when the program has ended and its output is in the log. */
  get ended(): Promise<void> {
    if (this.#exit !== undefined) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  #follow(): void {
    this.#watch();
    this.#look();
    this.#lookLater();
  }

  /** A report is only a hint to look. Machines limit the number of watched folders: then there is none. */
  #watch(): void {
    try {
      this.#watcher = watch(this.folder, { persistent: false }, () => this.#look());
    } catch {
      return;
    }
    this.#watcher.on("error", () => {
      this.#watcher?.close();
      this.#watcher = undefined;
    });
  }

  get #isReported(): boolean {
    return this.#isOwnChild && this.#watcher !== undefined;
  }

  #lookLater(delayMs = this.#isReported ? LOOK_MS : BLIND_LOOK_MS): void {
    const { loop } = this.#options;
    this.#timer?.cancel();
    if (this.#isReleased) return;
    this.#timer = loop.timer(loop.now() + delayMs, "periodic", () => {
      this.#look();
      this.#lookLater();
    });
  }

  /** One pass at a time; changes during a pass cause another one. */
  #look(): void {
    const { loop, failed } = this.#options;
    if (this.#isReleased || loop.now() < this.#restsUntil) return;
    this.#lookAgain = true;
    this.#looking ??= this.#lookWhileNeeded()
      .catch((error: unknown) => {
        this.#restsUntil = loop.now() + REST_MS;
        this.#lookLater(REST_MS);
        failed(error);
      })
      .finally(() => {
        this.#looking = undefined;
      });
  }

  async #lookWhileNeeded(): Promise<void> {
    while (this.#lookAgain && this.#exit === undefined) {
      this.#lookAgain = false;
      await this.#pass();
    }
  }

  async #pass(): Promise<void> {
    if (!this.#hasStarted) this.#reportStart();
    this.#endWithoutShim();
    const code = readExit(this.folder);
    const hasDrained = await this.#pump.move();
    if (code === undefined) return;
    const { loop } = this.#options;
    this.#drainsUntil ??= loop.now() + DRAIN_MS;
    const isLate = loop.now() >= this.#drainsUntil;
    if (!hasDrained && !isLate) {
      this.#options.tree.killStrays();
      loop.timer(this.#drainsUntil, "progress", () => this.#look());
      return;
    }
    await this.#pump.finish();
    this.#finish({ ...code, ...(await this.#options.explainExit(code.exitCode)) });
  }

  #finish(exit: ContainerExit): void {
    const start = readStart(this.folder);
    this.#exit = exit;
    this.#release();
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
    if (start?.type === "started") this.#report({ type: "exited", ...exit });
    else this.#report({ type: "start-failed", message: start?.message ?? ENDED_EARLY });
  }

  #reportStart(): void {
    const start = readStart(this.folder);
    if (start?.type !== "started") return;
    this.#hasStarted = true;
    this.#report({ type: "started", at: start.at });
    if (this.#stopSignal !== undefined) this.#signalProgram(this.#stopSignal);
  }

  /** A shim that was killed takes its container along: no exit code could be kept. */
  #endWithoutShim(): void {
    const shim = readIdentity(join(this.folder, "shim"));
    if (shim === undefined || isAlive(shim) || existsSync(join(this.folder, "code"))) return;
    this.#options.tree.kill();
    writeExit(this.folder, KILLED);
  }

  #signalProgram(signal: string): void {
    const program = this.#options.tree.findProgram();
    if (program !== undefined) sendSignal(program, signal);
  }

  #failStart(message: string): void {
    this.#exit = { exitCode: KILLED, at: this.#options.loop.now() };
    this.#release();
    for (const resolve of this.#waiting) resolve();
    this.#report({ type: "start-failed", message });
  }

  #report(report: RunReport): void {
    if (this.#listener === undefined) this.#unheard.push(report);
    else this.#listener(report);
  }

  #release(): void {
    this.#isReleased = true;
    this.#watcher?.close();
    this.#timer?.cancel();
    this.#killTimer?.cancel();
  }
}
