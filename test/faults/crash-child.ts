/** Starts the writing child and kills it. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "rolldown";

/** Bundles the child into `folder`, so that every supported Node.js can run it. Modules still find files beside their source. */
export async function bundleCrashWriter(folder: string): Promise<string> {
  const file = join(folder, "crash-writer.mjs");
  await build({
    input: fileURLToPath(new URL("./crash-writer.ts", import.meta.url)),
    platform: "node",
    logLevel: "warn",
    // Modules in the temporary folder would not find node_modules.
    plugins: [{ name: "source-urls", transform: withSourceUrl }],
    output: { file, format: "esm", codeSplitting: false },
  });
  return file;
}

function withSourceUrl(code: string, id: string): string {
  return code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href));
}

export class CrashChild {
  /** Resolves once the child is gone and its output is read. A child that ends by itself is a failure. */
  readonly killed: Promise<void>;
  readonly #process: ChildProcess;

  constructor(program: readonly string[], onLine: (line: string) => void) {
    this.#process = spawn(process.execPath, program, { stdio: ["ignore", "pipe", "pipe"] });
    this.killed = this.#follow(onLine);
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }

  async #follow(onLine: (line: string) => void): Promise<void> {
    const { stdout, stderr } = this.#process;
    const closed = once(this.#process, "close");
    let errors = "";
    stderr?.setEncoding("utf8").on("data", (text: string) => {
      errors += text;
    });
    try {
      if (stdout !== null) for await (const line of createInterface({ input: stdout })) onLine(line);
    } catch (error) {
      // A reader that found a fault stops reading: the child must not go on writing.
      this.kill();
      throw error;
    } finally {
      await closed;
    }
    if (this.#process.signalCode !== "SIGKILL") throw new Error(`the child ended by itself: ${errors}`);
  }
}
