/**
 * Logs, exec, attach and port-forward of simulated containers, which have no process: annotations declare the output, and
 * everything else says that the pod is simulated.
 */
import { createServer, type Server } from "node:http";
import { Readable, type Duplex } from "node:stream";
import type {
  Container,
  ContainerStateTerminated,
  ContainerStatus,
  Pod,
} from "../../api/generated/types/core-v1.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { findSimulated } from "../../resources/pod/simulated-annotations.ts";
import { duplexPair } from "../../streams/duplex-pair.ts";
import { failedSession } from "../failed-session.ts";
import type {
  AttachRequest,
  ContainerKey,
  ContainerPlace,
  ExecRequest,
  LogQuery,
  LogView,
  SessionEnd,
  StreamSession,
} from "../runtime-handler.ts";
import { behaviourOf } from "./behaviour.ts";
import { findScripted, parseExecScript, parsePorts, type ScriptedCommand } from "./exec-script.ts";
import { logScriptOf, type LogScript } from "./log-script.ts";
import { SimulatedLog, type SimulatedRun } from "./simulated-log.ts";
import { answeredSession, ignoredInput } from "./simulated-session.ts";

/** Exit code of a shell for a program that cannot be executed. */
const NOT_EXECUTED_CODE = 126;
const REMEDY =
  "a pod with runtimeClassName: process runs real programs, on a cluster of setpoint up --process-node";

/** A container that runs now. */
export interface RunningContainer {
  readonly pod: Pod;
  readonly container: Container;
  readonly startedAt: number;
}

export class SimulatedStreams {
  readonly #loop: Loop;
  /** Callbacks for the end of running containers, by `textOf`. */
  readonly #open = new Map<string, Set<(exitCode: number) => void>>();
  readonly #bodies = new WeakMap<Duplex, string>();
  #http: Server | undefined;

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  /** `running` is undefined when the container does not run now. The result is undefined if there is no such run. */
  logs(
    { pod, container }: ContainerPlace,
    query: LogQuery,
    running: RunningContainer | undefined,
  ): Readable | undefined {
    const times = findTimes(pod, container, { attempt: query.attempt, running });
    if (times === undefined) return undefined;
    const run = { script: scriptOf(pod, container), ...times };
    if (query.follow && run.endedAt === undefined)
      return this.#follow(run, query, { uid: pod.metadata.uid, container: container.name });
    return new SimulatedLog(run, query, this.#loop);
  }

  exec(running: RunningContainer | undefined, key: ContainerKey, request: ExecRequest): StreamSession {
    if (running === undefined) return failedSession(`container ${key.container} does not run`);
    const declared = findSimulated(running.pod, key.container, "exec");
    return answeredSession(answerTo(request.command, key.container, declared), request);
  }

  /** Shows the lines from now on, until the container ends. */
  attach(running: RunningContainer | undefined, key: ContainerKey, request: AttachRequest): StreamSession {
    if (running === undefined) return failedSession(`container ${key.container} does not run`);
    const { pod, container, startedAt } = running;
    const run = { script: scriptOf(pod, container), startedAt, endedAt: undefined };
    let settle: (end: SessionEnd) => void = () => undefined;
    const ended = new Promise<SessionEnd>((resolve) => (settle = resolve));
    const leave = this.#whenEnded(key, (exitCode) => settle({ type: "exited", exitCode }));
    const query = { ...EVERYTHING, sinceMs: this.#loop.now() + 1 };
    const stdout = request.stdout ? this.#follow(run, query, key) : undefined;
    return {
      stdin: request.stdin ? ignoredInput() : undefined,
      stdout,
      stderr: request.stderr && !request.tty ? Readable.from([]) : undefined,
      resize: () => undefined,
      ended,
      close: () => {
        leave();
        stdout?.destroy();
        settle({ type: "exited", exitCode: 0 });
      },
    };
  }

  /** Answers HTTP requests on the declared ports. */
  portForward(pod: Pod | undefined, port: number): Promise<Duplex> {
    if (pod === undefined) return Promise.reject(new Error("the pod does not run"));
    const body = findBody(pod, port);
    if (body === undefined) {
      const what = `pod ${pod.metadata.name} is simulated, and nothing listens on port ${port}`;
      return Promise.reject(
        new Error(`${what}: annotate it with simulated.setpoint.dev/ports, or ${REMEDY}`),
      );
    }
    const [client, server] = duplexPair();
    this.#bodies.set(server, body);
    this.#server().emit("connection", server);
    return Promise.resolve(client);
  }

  /** Ends the streams of a container that has ended or is dropped. */
  ended(key: ContainerKey, exitCode: number): void {
    const open = this.#open.get(textOf(key));
    this.#open.delete(textOf(key));
    for (const end of open ?? []) end(exitCode);
  }

  #server(): Server {
    this.#http ??= createServer((request, response) => {
      request.resume();
      response.writeHead(200, { "content-type": "text/plain; charset=utf-8" });
      response.end(this.#bodies.get(request.socket));
    });
    return this.#http;
  }

  #follow(run: SimulatedRun, query: LogView, key: ContainerKey): Readable {
    const log = new SimulatedLog(run, query, this.#loop);
    const leave = this.#whenEnded(key, () => log.end());
    log.once("close", leave);
    return log;
  }

  #whenEnded(key: ContainerKey, end: (exitCode: number) => void): () => void {
    const text = textOf(key);
    const open = this.#open.get(text) ?? new Set();
    this.#open.set(text, open.add(end));
    return () => {
      open.delete(end);
      if (open.size === 0 && this.#open.get(text) === open) this.#open.delete(text);
    };
  }
}

const EVERYTHING = {
  follow: true,
  timestamps: false,
  tailLines: undefined,
  limitBytes: undefined,
  stream: "All",
} as const;

function scriptOf(pod: Pod, container: Container): LogScript {
  return logScriptOf(pod, container, behaviourOf(pod, container, () => undefined).output);
}

/** The status knows the newest run and the one before. */
function findTimes(
  pod: Pod,
  container: Container,
  { attempt, running }: Pick<LogQuery, "attempt"> & { readonly running: RunningContainer | undefined },
): Omit<SimulatedRun, "script"> | undefined {
  const status = findStatus(pod, container);
  const newest = status?.restartCount ?? 0;
  if (attempt !== undefined && attempt > newest) return undefined;
  const isNewest = attempt === undefined || attempt === newest;
  if (isNewest && running !== undefined) return { startedAt: running.startedAt, endedAt: undefined };
  if (status === undefined) return undefined;
  const { state, lastState } = status;
  return endedTimes(isNewest ? (state.terminated ?? lastState.terminated) : lastState.terminated);
}

function endedTimes(ended: ContainerStateTerminated | undefined): Omit<SimulatedRun, "script"> | undefined {
  const { startedAt = "", finishedAt = startedAt } = ended ?? {};
  if (startedAt === "") return undefined;
  // Times in a status are whole seconds: the run may have ended at any moment of its last one.
  return { startedAt: Date.parse(startedAt), endedAt: Date.parse(finishedAt) + 999 };
}

function findStatus({ status }: Pod, { name }: Container): ContainerStatus | undefined {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status;
  const all = [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
  return all.find((each) => each.name === name);
}

function answerTo(
  command: readonly string[],
  container: string,
  declared: string | undefined,
): ScriptedCommand {
  const scripted =
    declared === undefined ? undefined : findScripted(parsedOrEmpty(parseExecScript, declared), command);
  if (scripted !== undefined) return scripted;
  const why = `simulated: container ${container} executes nothing; ${REMEDY}`;
  return { stdout: "", stderr: `${why}\n`, exitCode: NOT_EXECUTED_CODE };
}

/** The first container that declares the port answers. */
function findBody(pod: Pod, port: number): string | undefined {
  for (const { name } of pod.spec.containers) {
    const declared = findSimulated(pod, name, "ports");
    const body = declared === undefined ? undefined : parsedOrEmpty(parsePorts, declared).get(port);
    if (body !== undefined) return body;
  }
  return undefined;
}

/** An Event has told about an invalid annotation, which counts as absent. */
function parsedOrEmpty<K, V>(parse: (text: string) => ReadonlyMap<K, V>, text: string): ReadonlyMap<K, V> {
  try {
    return parse(text);
  } catch {
    return new Map();
  }
}

function textOf({ uid, container }: ContainerKey): string {
  return `${uid}/${container}`;
}
