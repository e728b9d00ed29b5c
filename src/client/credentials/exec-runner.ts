import { execFile } from "node:child_process";
import { unauthorized } from "../../api/errors/api-error.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { endableSignal } from "../call-signal.ts";
import type { Endpoint, ExecPlugin } from "../endpoint.ts";
import { execInfo, parseExecCredential } from "./exec-credential.ts";
import type { ExecCredential } from "./exec-credential.ts";

/** Timeout of a plugin, which usually makes a request over the network. */
const TIMEOUT_MS = 60_000;

const OUTPUT_BYTES_MAX = 1024 * 1024;

/** Upper bound of the characters shown of a failed plugin's error output. */
const SHOWN_CHARACTERS_MAX = 300;

export interface ExecOptions {
  readonly plugin: ExecPlugin;
  readonly endpoint: Endpoint;
  readonly loop: Loop;
  readonly readCa: () => Promise<string | undefined>;
}

/**
 * Runs a plugin and caches its credential until it expires or the server rejects it. Concurrent callers share one
 * run.
 */
export class ExecRunner {
  readonly #options: ExecOptions;
  #kept: ExecCredential | undefined;
  #running: Promise<ExecCredential> | undefined;
  readonly #closing = new AbortController();

  constructor(options: ExecOptions) {
    this.#options = options;
  }

  current(): Promise<ExecCredential> {
    const { expiresAt = Infinity } = this.#kept ?? { expiresAt: -Infinity };
    if (this.#kept !== undefined && this.#options.loop.now() < expiresAt) return Promise.resolve(this.#kept);
    return (this.#running ??= this.#ask());
  }

  /** Drops the cached credential if it is the one that the server rejected. */
  refused(shown: { readonly token: string | undefined; readonly cert: string | undefined }): void {
    const { token = shown.token, cert = shown.cert } = this.#kept ?? {};
    if (token === shown.token && cert === shown.cert) this.#kept = undefined;
  }

  /** Stops a running plugin and starts none afterwards. */
  close(): void {
    this.#closing.abort(new Error("the client was closed"));
  }

  async #ask(): Promise<ExecCredential> {
    const { plugin, loop } = this.#options;
    try {
      const output = await loop.outside("process", this.#run());
      this.#kept = parseExecCredential(output, plugin);
      return this.#kept;
    } catch (error) {
      throw unauthorized(
        `the credential plugin ${plugin.command} failed: ${reasonOf(error as Error, plugin)}`,
      );
    } finally {
      this.#running = undefined;
    }
  }

  async #run(): Promise<string> {
    const { plugin, endpoint, loop, readCa } = this.#options;
    const info = execInfo(plugin, endpoint, await readCa());
    const env = { ...process.env, ...plugin.env, KUBERNETES_EXEC_INFO: info };
    const { signal, abort, release } = endableSignal([this.#closing.signal]);
    const late = loop.timer(loop.now() + TIMEOUT_MS, "periodic", () =>
      abort(new Error(`it did not finish within ${TIMEOUT_MS / 1000} s`)),
    );
    const options = { env, maxBuffer: OUTPUT_BYTES_MAX, windowsHide: true, signal };
    return new Promise<string>((resolve, reject) => {
      const child = execFile(plugin.command, [...plugin.args], options, (error, output, complaint) => {
        late.cancel();
        release();
        if (error === null) resolve(output);
        else reject(signal.aborted ? (signal.reason as Error) : new PluginError(error, complaint));
      });
      child.stdin?.end();
    });
  }
}

class PluginError extends Error {
  override readonly name = "PluginError";
  readonly code: unknown;

  constructor(cause: Error & { readonly code?: unknown }, complaint: string) {
    const shown = complaint.trim().slice(-SHOWN_CHARACTERS_MAX);
    super(shown === "" ? cause.message : shown, { cause });
    this.code = cause.code;
  }
}

function reasonOf(error: Error & { readonly code?: unknown }, { command, installHint }: ExecPlugin): string {
  if (error.code !== "ENOENT") return error.message;
  const hint = installHint === undefined ? "" : `; ${installHint.trim()}`;
  return `cannot find the program ${JSON.stringify(command)}: install it or correct users[].user.exec.command${hint}`;
}
