/** The built program in its own process, as users run it. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";

const PROGRAM = fileURLToPath(new URL("../../../dist/cli.js", import.meta.url));

/** A line that the program printed. */
interface ProgramEvent {
  readonly event: string;
  readonly server?: string;
  readonly kubeconfig?: string;
}

export class Program {
  readonly #child: ChildProcess;
  readonly #events: ProgramEvent[] = [];
  readonly #ended: Promise<readonly unknown[]>;
  #complaints = "";
  #notice = (): void => undefined;

  /** Starts the program; it ends with the test at the latest. */
  constructor(...args: readonly string[]) {
    expect(existsSync(PROGRAM), "dist/cli.js is there: run it through npm test, which builds").toBe(true);
    const child = spawn(process.execPath, [PROGRAM, ...args, "--json"], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    this.#ended = once(child, "close") as Promise<readonly unknown[]>;
    this.endWithTest(async () => {
      child.kill("SIGKILL");
      await this.#ended;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#complaints += text;
    });
    createInterface({ input: child.stdout }).on("line", (line) => {
      this.#events.push(JSON.parse(line) as ProgramEvent);
      this.#notice();
    });
  }

  protected endWithTest(end: () => Promise<void>): void {
    onTestFinished(end);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Lines that it has printed so far. */
  get printed(): readonly object[] {
    return this.#events;
  }

  /** First event of this name; throws when the program ends without one. */
  async event(name: string): Promise<ProgramEvent> {
    const seen = new Promise<ProgramEvent>((resolve) => {
      this.#notice = () => {
        const found = this.#events.find(({ event }) => event === name);
        if (found !== undefined) resolve(found);
      };
      this.#notice();
    });
    const missed = this.#ended.then(([code]) => {
      throw new Error(`the program ended with ${String(code)} and without "${name}": ${this.#complaints}`);
    });
    return await Promise.race([seen, missed]);
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Its exit code and the signal that ended it. */
  async end(signal: NodeJS.Signals): Promise<readonly unknown[]> {
    this.#child.kill(signal);
    return await this.#ended;
  }

  /** Exit code and standard error of a program that ends by itself. */
  async ended(): Promise<{ readonly code: unknown; readonly stderr: string }> {
    const [code] = await this.#ended;
    return { code, stderr: this.#complaints };
  }
}

/** A program for several tests: the test that starts it ends it. */
export class LastingProgram extends Program {
  protected override endWithTest(): void {}
}
