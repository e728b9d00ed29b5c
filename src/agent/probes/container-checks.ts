/** Runs checks of containers: programs through the handler, requests over the pod's network. */
import { createConnection } from "node:net";
import type { Duplex } from "node:stream";
import type { Container, LifecycleHandler, Probe } from "../../api/generated/types/core-v1.ts";
import { errorText } from "../../base/error-text.ts";
import type { Loop } from "../../base/loop/loop.ts";
import type { ContainerPlace, RuntimeHandler } from "../runtime-handler.ts";
import { OUTPUT_MAX, failed, type CheckResult, type Dial } from "./check.ts";
import { checkGrpc } from "./grpc-check.ts";
import { checkHttp } from "./http-check.ts";

export interface ContainerChecksParts {
  readonly loop: Loop;
  /** The pod's primary address; undefined while it has none. */
  readonly addressOf: (uid: string) => string | undefined;
}

export type CheckAction = Pick<Probe, "exec" | "httpGet" | "tcpSocket" | "grpc"> | LifecycleHandler;

/** The parts of a handler that checks need. */
export type CheckedHandler = Pick<RuntimeHandler, "exec" | "dial">;

interface NetworkTarget {
  readonly port: number | string;
  readonly host?: string;
}

interface Limits {
  readonly timeoutMs: number;
}

export class ContainerChecks {
  readonly #parts: ContainerChecksParts;

  constructor(parts: ContainerChecksParts) {
    this.#parts = parts;
  }

  /** Never rejects: an error is a failed check. */
  async run(
    handler: CheckedHandler,
    { place, action }: { readonly place: ContainerPlace; readonly action: CheckAction },
    { timeoutMs }: Limits,
  ): Promise<CheckResult> {
    const { loop } = this.#parts;
    const ending = new AbortController();
    const timeout = new Error(`timed out after ${String(timeoutMs / 1000)}s`);
    // An answer that has arrived while this process was busy is read before the time limit applies.
    const expire = (): void => loop.post("background", () => ending.abort(timeout));
    const timer = loop.timer(loop.now() + timeoutMs, "progress", expire);
    try {
      return await loop.outside("probe", this.#check(handler, { place, action, signal: ending.signal }));
    } catch (error) {
      return failed(ending.signal.aborted ? timeoutText(action, timeout) : errorText(error));
    } finally {
      timer.cancel();
    }
  }

  async #check(
    handler: CheckedHandler,
    { place, action, signal }: { place: ContainerPlace; action: CheckAction; signal: AbortSignal },
  ): Promise<CheckResult> {
    if (action.exec !== undefined) return runProgram(handler, place, { ...action.exec, signal });
    const { uid } = place.pod.metadata;
    const dial = this.#dialOf(handler, uid, signal);
    const grpc = "grpc" in action ? action.grpc : undefined;
    const network: NetworkTarget | undefined = grpc ?? action.httpGet ?? action.tcpSocket;
    if (network === undefined) return failed("missing probe handler");
    const port = portOf(place.container, network.port);
    if (port === undefined) return failed(`couldn't find port: ${String(network.port)}`);
    const host = network.host ?? this.#parts.addressOf(uid) ?? "";
    if (action.httpGet !== undefined) return checkHttp({ action: action.httpGet, host, port, dial, signal });
    const socket = await dial(host, port);
    if (grpc !== undefined) return checkGrpc(socket, grpc.service, signal);
    socket.destroy();
    return { isSuccess: true, message: "" };
  }

  /** The pod's own address may be reachable only through the handler. */
  #dialOf(handler: CheckedHandler, uid: string, signal: AbortSignal): Dial {
    return (host, port) => {
      const isPod = host === this.#parts.addressOf(uid);
      const opened = isPod && handler.dial !== undefined ? handler.dial(uid, port) : dialTcp(host, port);
      return untilAborted(opened, signal);
    };
  }
}

function portOf({ ports = [] }: Container, port: number | string): number | undefined {
  const named = ports.find(({ name }) => name === port)?.containerPort;
  const number = named ?? Number(port);
  return Number.isInteger(number) && number > 0 ? number : undefined;
}

function dialTcp(host: string, port: number): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host, port });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}

/** A connection that opens after the time limit is closed. */
function untilAborted(opened: Promise<Duplex>, signal: AbortSignal): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    opened.then((socket) => {
      signal.removeEventListener("abort", abort);
      const end = (): void => void socket.destroy();
      socket.on("error", () => undefined);
      socket.once("close", () => signal.removeEventListener("abort", end));
      signal.addEventListener("abort", end, { once: true });
      if (signal.aborted) socket.destroy();
      else resolve(socket);
    }, reject);
  });
}

async function runProgram(
  handler: CheckedHandler,
  { pod, container }: ContainerPlace,
  { command = [], signal }: { readonly command?: readonly string[]; readonly signal: AbortSignal },
): Promise<CheckResult> {
  const key = { uid: pod.metadata.uid, container: container.name };
  const streams = { stdin: false, stdout: true, stderr: true, tty: false };
  const session = handler.exec(key, { command, ...streams });
  let output = "";
  for (const stream of [session.stdout, session.stderr]) {
    stream?.on("data", (chunk) => {
      if (output.length < OUTPUT_MAX) output += String(chunk);
    });
    stream?.on("error", () => undefined);
  }
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  try {
    const end = await Promise.race([session.ended, aborted]);
    if (end.type === "failed") return failed(end.message);
    const message = output.slice(0, OUTPUT_MAX);
    return {
      isSuccess: end.exitCode === 0,
      message: message === "" && end.exitCode !== 0 ? `exit code ${String(end.exitCode)}` : message,
    };
  } finally {
    session.close();
  }
}

function timeoutText(action: CheckAction, { message }: Error): string {
  if (action.exec === undefined) return `${message}: context deadline exceeded`;
  return `command ${JSON.stringify((action.exec.command ?? []).join(" "))} ${message}`;
}
