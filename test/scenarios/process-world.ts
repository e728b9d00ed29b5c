/** One process handler over a temporary data dir, with everything that it reports. */
import { join } from "node:path";
import type { Isolation } from "../../src/agent/process/isolation.ts";
import type { ProcessHandler, ProcessHandlerOptions } from "../../src/agent/process/process-handler.ts";
import { listProcesses } from "../../src/agent/process/process-table.ts";
import type {
  ContainerKey,
  ContainerReport,
  LogQuery,
  Program,
  RuntimeListener,
  SandboxReport,
  SandboxSpec,
} from "../../src/agent/runtime-handler.ts";
import type { Container, Pod } from "../../src/api/generated/types/core-v1.ts";
import { ALL_RIGHTS } from "../conformance/all-rights.ts";
import { ProcessMachine } from "../conformance/process-machine.ts";

export const UID = "pod";
const WAIT_MS = 10;
const LIMIT_MS = 90_000;

const LOG: LogQuery = {
  ...{ attempt: undefined, follow: false, timestamps: false, stream: "All" },
  ...{ tailLines: undefined, sinceMs: undefined, limitBytes: undefined },
};

interface WorldOptions extends Partial<ProcessHandlerOptions> {
  /** Data dir, which goes with the world. Default: a temporary one. */
  readonly folder?: string;
}

type Reported = ContainerReport["type"];

export class ProcessWorld implements AsyncDisposable {
  readonly machine: ProcessMachine;
  readonly reports: (ContainerReport & ContainerKey)[] = [];
  readonly #sandboxes: (SandboxReport & { readonly uid: string })[] = [];
  readonly #options: Partial<ProcessHandlerOptions>;
  handler: ProcessHandler;
  #ending = new AbortController();
  #running: Promise<void>;

  private constructor(isolation: Isolation, { folder, ...options }: WorldOptions) {
    this.machine = new ProcessMachine(isolation, folder);
    this.#options = options;
    this.handler = this.machine.create(this.#listener(), options);
    this.#running = this.handler.run(this.#ending.signal);
  }

  /** With a sandbox for one pod. */
  static async open(
    isolation: Isolation,
    options: WorldOptions = {},
    pod: Partial<Pod["spec"]> = {},
  ): Promise<ProcessWorld> {
    const world = await ProcessWorld.start(isolation, options);
    world.handler.createSandbox(world.spec(pod));
    await world.untilReady(UID);
    return world;
  }

  /** Without a pod. */
  static async start(
    isolation: Isolation,
    options: Partial<ProcessHandlerOptions> = {},
  ): Promise<ProcessWorld> {
    const world = new ProcessWorld(isolation, options);
    await world.handler.list();
    return world;
  }

  get addresses(): readonly string[] {
    const [ready] = this.#sandboxes;
    return ready?.type === "sandbox-ready" ? ready.addresses : [];
  }

  /** Rejects for a sandbox that cannot be made. */
  async untilReady(uid: string): Promise<void> {
    const find = (): SandboxReport | undefined => this.#sandboxes.find((report) => report.uid === uid);
    await this.until("the sandbox is made", () => find() !== undefined);
    if (find()?.type !== "sandbox-ready") throw new Error(JSON.stringify(find()));
  }

  /** Resolves when the handler has carried out the earlier orders for the pod: it confirms its sandbox after them. */
  async settle(): Promise<void> {
    const before = this.#sandboxes.length;
    this.handler.createSandbox(this.spec());
    await this.until("the sandbox is confirmed", () => this.#sandboxes.length > before);
  }

  spec(pod: Partial<Pod["spec"]> = {}, uid = UID): SandboxSpec {
    return {
      node: "machine",
      pod: podOf(pod, uid),
      podCidrs: ["10.199.9.0/24"],
      hostAddresses: ["192.0.2.7"],
      addresses: [],
      hostname: "web-0",
    };
  }

  start(
    command: readonly string[],
    program: Partial<Program> & { readonly attempt?: number; readonly uid?: string } = {},
  ): void {
    const { attempt = 0, uid = UID, ...others } = program;
    const container = containerOf("main", command);
    this.handler.start({
      ...{ node: "machine", pod: podOf({}, uid), container, attempt },
      program: { ...this.program(command, attempt, uid), ...others },
    });
  }

  program(command: readonly string[], attempt = 0, uid = UID): Program {
    return {
      ...{ command, args: [], workingDir: undefined, mounts: [], ports: [] },
      env: new Map([["PATH", "/usr/local/bin:/usr/bin:/bin"]]),
      user: { uid: undefined, gid: undefined, supplementalGroups: [] },
      rights: ALL_RIGHTS,
      limits: { cpuRequestMillis: undefined, cpuLimitMillis: undefined, memoryLimitBytes: undefined },
      logPath: join(this.machine.folder, "pods-logs", uid, `${String(attempt)}.log`),
      ...{ stdin: false, stdinOnce: false, tty: false },
    };
  }

  async report<T extends Reported>(type: T, uid = UID): Promise<Extract<ContainerReport, { type: T }>> {
    const find = (): ContainerReport | undefined =>
      this.reports.find((report) => report.type === type && report.uid === uid);
    await this.until(`the container is ${type}`, () => find() !== undefined);
    return find() as Extract<ContainerReport, { type: T }>;
  }

  /** Runs to the end. Returns the output. */
  async run(
    command: readonly string[],
    program: Partial<Program> & { readonly uid?: string } = {},
  ): Promise<string> {
    this.start(command, program);
    await this.report("exited", program.uid);
    return this.log({}, program.uid);
  }

  async log(query: Partial<LogQuery> = {}, uid = UID): Promise<string> {
    const container = containerOf("main", []);
    const place = { node: "machine", pod: podOf({}, uid), container };
    let text = "";
    for await (const piece of (await this.handler.logs(place, { ...LOG, ...query })) ?? [])
      text += String(piece);
    return text;
  }

  async exec(
    command: readonly string[],
    input?: string,
    uid = UID,
  ): Promise<{ readonly output: string; readonly end: unknown }> {
    const request = { command, stdin: input !== undefined, stdout: true, stderr: true, tty: false };
    const session = this.handler.exec({ uid, container: "main" }, request);
    session.stdin?.end(input);
    let output = "";
    session.stderr?.on("data", (piece) => (output += String(piece)));
    for await (const piece of session.stdout ?? []) output += String(piece);
    return { output, end: await session.ended };
  }

  async until(what: string, isDone: () => boolean | Promise<boolean>, limitMs = LIMIT_MS): Promise<void> {
    for (let left = limitMs / WAIT_MS; !(await isDone()); left--) {
      if (left <= 0) throw new Error(`timed out until ${what}; saw ${JSON.stringify(this.reports)}`);
      await this.machine.time.pass(WAIT_MS);
    }
  }

  /** Ends the handler, and starts another one that adopts the pod. */
  async restart(
    options: Partial<ProcessHandlerOptions> = this.#options,
  ): Promise<ReturnType<ProcessHandler["adopt"]>> {
    this.#ending.abort();
    await this.#running;
    this.#ending = new AbortController();
    this.reports.length = 0;
    this.handler = this.machine.create(this.#listener(), options);
    this.#running = this.handler.run(this.#ending.signal);
    await this.handler.list();
    return this.handler.adopt(this.spec());
  }

  /** Ends the handler as the end of a cluster does. */
  async end(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  async remove(uid = UID): Promise<void> {
    this.handler.removeSandbox(uid);
    await this.until("the sandbox is removed", () =>
      this.#sandboxes.some((report) => report.uid === uid && report.type === "sandbox-removed"),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove();
    await this.end();
    await this.machine[Symbol.asyncDispose]();
  }

  #listener(): RuntimeListener {
    return {
      sandbox: (uid, report) => this.#sandboxes.push({ ...report, uid }),
      container: (key, report) => this.reports.push({ ...report, ...key }),
    };
  }
}

function containerOf(name: string, command: readonly string[]): Container {
  return { name, image: "none", command, resources: {} };
}

function podOf(spec: Partial<Pod["spec"]>, uid = UID): Pod {
  const metadata = {
    name: "web-0",
    namespace: "default",
    uid,
    resourceVersion: "1",
    creationTimestamp: "",
  };
  return { apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [], ...spec }, status: {} };
}

/** Program of a server that says which pod it runs in. */
export const SERVER =
  'require("http").createServer((q,s)=>s.end("from "+require("os").hostname())).listen(8080,()=>console.log("listening"))';

/** Whether a program with these words in its arguments runs. */
export function hasProcess(mark: string): boolean {
  return listProcesses().some((row) => row.arguments.includes(mark) && !row.arguments.includes("start.sh"));
}
