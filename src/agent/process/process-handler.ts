/** Runs containers as processes of this machine, each pod in namespaces of its own where that is permitted. */
import { join } from "node:path";
import type { Duplex, Readable } from "node:stream";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import { errorText } from "../../base/error-text.ts";
import { untilAborted } from "../../base/loop/until-aborted.ts";
import { failedSession } from "../failed-session.ts";
import { readLog } from "../logs/log-reader.ts";
import type {
  AttachRequest,
  ContainerKey,
  ContainerPlace,
  ContainerReport,
  ContainerStart,
  ExecRequest,
  FoundContainer,
  FoundSandbox,
  LogQuery,
  PodUsage,
  RuntimeHandler,
  RuntimeListener,
  SandboxSpec,
  StopOrder,
  StreamSession,
} from "../runtime-handler.ts";
import type { ContainerRun, RunReport } from "./container-run.ts";
import { ContainerStarter, imageIdOf } from "./container-starter.ts";
import { attachTo } from "./process-attach.ts";
import { CONTAINER_PLACE, execBeside } from "./process-exec.ts";
import { ProcessHost, type ProcessHostOptions } from "./process-host.ts";
import { findProcessImage, missingImageText, resolveCommand } from "./process-images.ts";
import { type ProcessPod, readPod, readRuns } from "./process-pod.ts";
import { connectToPod, dialPod } from "./process-port-forward.ts";
import { UsageMeter } from "./process-usage.ts";
import { RightsError } from "./program-rights.ts";
import { namesIn, readStart, type RunRecord } from "./run-folder.ts";
import { SandboxMaker } from "./sandbox-maker.ts";
import { findRlimitProblems } from "./surroundings.ts";

export interface ProcessHandlerOptions extends ProcessHostOptions {
  readonly listener: RuntimeListener;
  /** How pods end with the handler; undefined leaves them running. */
  readonly endPods: StopOrder | undefined;
}

const PROCESS_HANDLER = "process";

export class ProcessHandler implements RuntimeHandler {
  readonly name = PROCESS_HANDLER;
  readonly runsPrograms = true;
  readonly #options: ProcessHandlerOptions;
  readonly #host: ProcessHost;
  readonly #sandboxes: SandboxMaker;
  readonly #starter: ContainerStarter;
  readonly #meter: UsageMeter;
  readonly #pods = new Map<string, ProcessPod>();
  readonly #specs = new Map<string, SandboxSpec>();
  /** Last task of each pod, also of pods that are not made yet or removed already. */
  readonly #tasks = new Map<string, Promise<void>>();

  constructor(options: ProcessHandlerOptions) {
    this.#options = options;
    this.#host = new ProcessHost(options);
    this.#sandboxes = new SandboxMaker(this.#host);
    this.#starter = new ContainerStarter(this.#host);
    this.#meter = new UsageMeter(this.#host);
  }

  async run(signal: AbortSignal): Promise<void> {
    await untilAborted(signal);
    // From here on nothing is started: it would live on without an agent.
    this.#isEnding = true;
    for (const order of this.#starting.values()) order.isStopped = true;
    await Promise.all(this.#tasks.values());
    const runs = [...this.#pods.values()].flatMap((pod) => [...pod.runs.values()]);
    await this.#host.leaveNetwork();
    const { endPods } = this.#options;
    if (endPods === undefined) this.#host.leaveRunning();
    else {
      for (const run of runs) run.stop(endPods);
      await Promise.all(runs.map((run) => run.ended));
      await Promise.all([...this.#pods.values()].map((pod) => this.#host.holders.end(pod.folder)));
      await this.#host.network.remove();
      await this.#host.closeEgress();
    }
    await Promise.all(runs.map((run) => run.leave()));
  }

  async list(): Promise<readonly FoundSandbox[]> {
    this.#host.killLeftovers();
    for (const uid of namesIn(join(this.#host.folder, "pods"))) await this.#load(uid);
    if (this.#pods.size > 0) this.#host.prepare();
    if (this.#options.egress !== true || this.#pods.size === 0) await this.#host.closeEgress();
    await this.#host.openWays();
    return [...this.#pods.values()].map(describePod);
  }

  adopt(spec: SandboxSpec): FoundSandbox | undefined {
    const { uid } = spec.pod.metadata;
    const pod = this.#pods.get(uid);
    if (pod === undefined) return undefined;
    this.#specs.set(uid, spec);
    this.#host.takeAddresses({ ...spec, addresses: pod.record.addresses });
    const found = describePod(pod);
    for (const run of pod.runs.values()) run.listen((report) => this.#report(uid, run.record, report));
    return found;
  }

  createSandbox(spec: SandboxSpec): void {
    const { uid } = spec.pod.metadata;
    this.#enqueue(uid, async () => {
      const known = this.#pods.get(uid);
      if (known === undefined && this.#isEnding) return;
      try {
        const pod = known ?? (await this.#sandboxes.make(spec));
        this.#pods.set(uid, pod);
        this.#specs.set(uid, spec);
        this.#options.listener.sandbox(uid, { type: "sandbox-ready", addresses: pod.record.addresses });
      } catch (error) {
        this.#options.listener.sandbox(uid, { type: "sandbox-failed", message: errorText(error) });
      }
    });
  }

  removeSandbox(uid: string): void {
    for (const run of this.#pods.get(uid)?.runs.values() ?? []) run.silence();
    this.#enqueue(uid, async () => {
      const pod = this.#pods.get(uid);
      if (pod !== undefined) await this.#sandboxes.remove(pod);
      this.#pods.delete(uid);
      this.#specs.delete(uid);
      this.#options.listener.sandbox(uid, { type: "sandbox-removed" });
    });
  }

  findImage(place: ContainerPlace): void {
    const command = this.#commandOf(place);
    const image = command === undefined ? undefined : { id: imageIdOf(command) };
    this.#send(keyOf(place), { type: "inspected", image });
  }

  pull(place: ContainerPlace): void {
    const command = this.#commandOf(place);
    const message = missingImageText(place.container.image ?? "");
    if (command === undefined) this.#send(keyOf(place), { type: "pull-failed", message });
    else
      this.#send(keyOf(place), {
        type: "pulled",
        image: { id: imageIdOf(command) },
        sizeBytes: 0,
        tookMs: 0,
      });
  }

  start(start: ContainerStart): void {
    const key = keyOf(start);
    const order = { isStopped: this.#isEnding };
    this.#starting.set(startKey(key), order);
    this.#enqueue(key.uid, async () => {
      try {
        if (!order.isStopped) await this.#startNow(start);
      } catch (error) {
        const reason = error instanceof RightsError ? "CreateContainerConfigError" : "CreateContainerError";
        this.#send(key, { type: "start-failed", reason, message: errorText(error) });
      } finally {
        this.#starting.delete(startKey(key));
      }
    });
  }

  #isEnding = false;
  readonly #starting = new Map<string, { isStopped: boolean }>();

  stop(container: ContainerKey, order: StopOrder): void {
    const starting = this.#starting.get(startKey(container));
    if (starting !== undefined) starting.isStopped = true;
    this.#findRun(container)?.stop(order);
  }

  update(_node: string, pod: Pod): void {
    const { uid } = pod.metadata;
    const spec = this.#specs.get(uid);
    if (spec !== undefined) this.#specs.set(uid, { ...spec, pod });
  }

  exec(container: ContainerKey, request: ExecRequest): StreamSession {
    const pod = this.#pods.get(container.uid);
    const run = this.#findRun(container);
    const first = run?.firstPid;
    if (pod === undefined || run === undefined || first === undefined)
      return failedSession(`container ${container.container} does not run`);
    const place = [...pod.record.namespaces, ...CONTAINER_PLACE];
    const enter = pod.hasNamespaces ? this.#host.enterWords(first, place) : [];
    const scriptPath = join(pod.folder, `exec-${this.#host.loop.random("exec").uuid()}.sh`);
    return execBeside({ record: run.record, enter, scriptPath }, request);
  }

  attach(container: ContainerKey, request: AttachRequest): StreamSession {
    const run = this.#findRun(container);
    if (run === undefined || run.exit !== undefined)
      return failedSession(`container ${container.container} does not run`);
    return attachTo(run, request);
  }

  portForward(uid: string, port: number): Promise<Duplex> {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return Promise.reject(new Error(`pod ${uid} does not run on this node`));
    return connectToPod(this.#host, pod, port);
  }

  dial(uid: string, port: number): Promise<Duplex> {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return Promise.reject(new Error(`pod ${uid} does not run on this node`));
    return dialPod(this.#host, pod, port);
  }

  async logs(place: ContainerPlace, { attempt, ...view }: LogQuery): Promise<Readable | undefined> {
    const run = this.#findRun(keyOf(place));
    if (run === undefined || (attempt ?? run.record.attempt) !== run.record.attempt) return undefined;
    return readLog(run.record.logPath, view, run.log);
  }

  async usage(uid: string): Promise<PodUsage | undefined> {
    const pod = this.#pods.get(uid);
    return pod && { at: this.#host.loop.now(), containers: this.#meter.read(pod) };
  }

  findAnnotationProblems(pod: Pod): readonly string[] {
    return findRlimitProblems(pod);
  }

  async #startNow(start: ContainerStart): Promise<void> {
    const { uid } = start.pod.metadata;
    const [pod, spec] = [this.#pods.get(uid), this.#specs.get(uid)];
    const { program } = start;
    if (pod === undefined || spec === undefined || program === undefined)
      throw new Error(`pod ${uid} has no sandbox`);
    if (!this.#sandboxes.isAlive(pod)) await this.#sandboxes.startHolder(pod, spec);
    await pod.runs.get(start.container.name)?.leave();
    const run = await this.#starter.start(pod, { ...start, program });
    pod.runs.set(start.container.name, run);
    run.listen((report) => this.#report(uid, run.record, report));
  }

  async #load(uid: string): Promise<void> {
    const pod = this.#pods.has(uid) ? undefined : readPod(this.#host.podFolder(uid));
    if (pod === undefined) return;
    for (const found of readRuns(pod)) pod.runs.set(found.record.name, await this.#starter.adopt(pod, found));
    this.#pods.set(uid, pod);
  }

  #report(uid: string, { name, id, imageId }: RunRecord, report: RunReport): void {
    const key = { uid, container: name };
    if (report.type === "started")
      this.#send(key, { type: "started", id: idText(id), imageId, at: report.at });
    else if (report.type === "start-failed") this.#send(key, { ...report, reason: "RunContainerError" });
    else this.#send(key, report);
  }

  #send(key: ContainerKey, report: ContainerReport): void {
    this.#options.listener.container(key, report);
  }

  #findRun({ uid, container }: ContainerKey): ContainerRun | undefined {
    return this.#pods.get(uid)?.runs.get(container);
  }

  #commandOf({ container }: ContainerPlace): readonly string[] | undefined {
    const image = findProcessImage(this.#options.images, container.image ?? "");
    return resolveCommand(image, { command: container.command ?? [], args: container.args ?? [] });
  }

  /** One task of a pod at a time. Tasks report their errors themselves. */
  #enqueue(uid: string, task: () => Promise<void>): void {
    const done = (this.#tasks.get(uid) ?? Promise.resolve()).then(task).catch((error: unknown) => {
      this.#options.log.error("a task of a process pod failed", { pod: uid, error });
    });
    this.#tasks.set(uid, done);
    void done.then(() => {
      if (this.#tasks.get(uid) === done) this.#tasks.delete(uid);
    });
  }
}

function describePod(pod: ProcessPod): FoundSandbox {
  const containers = [...pod.runs.values()].flatMap((run) => describeRun(run) ?? []);
  return { uid: pod.uid, addresses: pod.record.addresses, containers };
}

/** Undefined for a run whose program was never started. */
function describeRun({ folder, record, exit }: ContainerRun): FoundContainer | undefined {
  const start = readStart(folder);
  if (start?.type !== "started") return undefined;
  const { name, imageId, attempt } = record;
  return { name, id: idText(record.id), imageId, attempt, startedAt: start.at, exit };
}

function idText(id: string): string {
  return `${PROCESS_HANDLER}://${id}`;
}

function keyOf({ pod, container }: ContainerPlace): ContainerKey {
  return { uid: pod.metadata.uid, container: container.name };
}

function startKey({ uid, container }: ContainerKey): string {
  return `${uid}/${container}`;
}
