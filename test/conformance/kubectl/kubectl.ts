/** Runs the real kubectl in its own folder and returns its output. */
import { execFile, execFileSync, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** Far above the time of any command, so that a command that hangs fails. */
const TIMEOUT_MS = 60_000;

export interface Outcome {
  readonly code: number | string | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

export interface Setup {
  readonly path: string;
  readonly kubeconfig: string;
  /** Folder of kubectl's API cache and, per namespace, of the files of tests. */
  readonly home: string;
}

export class Kubectl {
  /** Empty if no namespace was chosen. */
  readonly namespace: string;
  readonly #setup: Setup;
  readonly #folder: string;
  readonly #env: Environment;

  constructor(setup: Setup, namespace = "", env: Environment = {}) {
    this.#setup = setup;
    this.namespace = namespace;
    this.#env = env;
    this.#folder = join(setup.home, namespace);
    mkdirSync(this.#folder, { recursive: true });
  }

  within(namespace: string): Kubectl {
    return new Kubectl(this.#setup, namespace, this.#env);
  }

  with(env: Environment): Kubectl {
    return new Kubectl(this.#setup, this.namespace, { ...this.#env, ...env });
  }

  run(...args: readonly string[]): Promise<Outcome> {
    const options = { cwd: this.#folder, env: this.environment(), timeout: TIMEOUT_MS };
    return new Promise((resolve) => {
      execFile(this.#setup.path, this.arguments(...args), options, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : error.code, stdout, stderr });
      });
    });
  }

  /** Standard output; throws when kubectl fails. */
  async ok(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(...args);
    if (code !== 0)
      throw new Error(`kubectl ${args.join(" ")} ended with ${String(code)}: ${stderr}${stdout}`);
    return stdout;
  }

  /** Error output; throws when kubectl succeeds. */
  async refused(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(...args);
    if (code !== 1)
      throw new Error(`kubectl ${args.join(" ")} ended with ${String(code)}: ${stdout}${stderr}`);
    return stderr;
  }

  async json(...args: readonly string[]): Promise<JsonValue> {
    return JSON.parse(await this.ok(...args, "-o", "json")) as JsonValue;
  }

  /** Lines that a command prints, as they arrive; leaving the loop ends the command. */
  async *lines(...args: readonly string[]): AsyncGenerator<string> {
    const child = spawn(this.#setup.path, this.arguments(...args), {
      cwd: this.#folder,
      env: this.environment(),
      timeout: TIMEOUT_MS,
      stdio: ["ignore", "pipe", "ignore"],
    });
    try {
      yield* createInterface({ input: child.stdout });
    } finally {
      child.kill();
    }
  }

  /** Writes a file in kubectl's working folder, so that its messages contain only the name. */
  file(name: string, content: string | object): string {
    writeFileSync(join(this.#folder, name), typeof content === "string" ? content : JSON.stringify(content), {
      mode: 0o755,
    });
    return name;
  }

  path(name: string): string {
    return join(this.#folder, name);
  }

  arguments(...args: readonly string[]): readonly string[] {
    return this.namespace === "" ? args : ["--namespace", this.namespace, ...args];
  }

  environment(): NodeJS.ProcessEnv {
    const { PATH } = process.env;
    const { kubeconfig, home } = this.#setup;
    // The process ends before its memory matters; garbage collection takes a fifth of its time.
    return { PATH, KUBECONFIG: kubeconfig, HOME: home, TMPDIR: home, GOGC: "off", ...this.#env };
  }
}

/** JSON, loosely typed for tests. */
export interface JsonValue {
  readonly [field: string]: JsonValue;
}

/** The minor version of the client: 32. */
export function clientVersion(path: string): number {
  const text = execFileSync(path, ["version", "--client", "-o", "json"], { encoding: "utf8" });
  const { clientVersion: client } = JSON.parse(text) as { clientVersion: { minor: string } };
  return Number.parseInt(client.minor, 10);
}

/** A printed table as rows of cells. An age is shown as AGE, whatever it is. */
export function table(text: string): readonly (readonly string[])[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) =>
      line
        .trimEnd()
        .split(/ {2,}/)
        .map((cell) => (/^\d+s$/.test(cell) ? "AGE" : cell)),
    );
}
