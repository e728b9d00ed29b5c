/** Programs on a pseudo terminal, through an optional package with native code. */
import type * as Pty from "@lydell/node-pty";
import { commandEnvironment } from "./command-environment.ts";

export interface Terminal {
  write(text: string): void;
  resize(size: TerminalSize): void;
  onOutput(callback: (bytes: Buffer) => void): void;
  kill(): void;
  /** Exit code. */
  readonly exited: Promise<number>;
}

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

const SIGNAL_BASE = 128;

/** Rejects with the remedy where the package is missing. */
export async function openTerminal(
  words: readonly string[],
  { columns, rows }: TerminalSize,
): Promise<Terminal> {
  const module = await loadPty();
  const [program = "", ...args] = words;
  // Without an encoding, output comes as bytes: a piece may end within a character.
  const place = { name: "xterm", cols: columns, rows, cwd: "/", env: commandEnvironment() };
  const pty = module.spawn(program, [...args], { ...place, encoding: null });
  const exited = new Promise<number>((resolve) => {
    pty.onExit(({ exitCode, signal = 0 }) => resolve(signal > 0 ? SIGNAL_BASE + signal : exitCode));
  });
  return {
    write: (text) => pty.write(text),
    resize: (size) => pty.resize(Math.max(1, size.columns), Math.max(1, size.rows)),
    onOutput: (callback) => pty.onData((data) => callback(Buffer.from(data as Buffer | string))),
    kill: () => pty.kill("SIGKILL"),
    exited,
  };
}

async function loadPty(): Promise<typeof Pty> {
  try {
    return await import("@lydell/node-pty");
  } catch (error) {
    throw new Error(
      "a terminal needs the optional package @lydell/node-pty, which this installation lacks (it exists for glibc and macOS); " +
        "run the command without -t",
      { cause: error },
    );
  }
}
