/**
 * The runtime handler of the control plane's own pods. Their containers are parts of this process: they run as long as it
 * does, and their logs are the components' files.
 */
import type { Duplex, Readable } from "node:stream";
import type {
  ContainerKey,
  ContainerPlace,
  ContainerProber,
  ContainerStart,
  FoundSandbox,
  LogQuery,
  PodUsage,
  RuntimeHandler,
  RuntimeListener,
  SandboxSpec,
  StreamSession,
} from "../../agent/runtime-handler.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { untilAborted } from "../../base/loop/until-aborted.ts";

export interface ComponentHandlerParts {
  readonly loop: Loop;
  readonly listener: RuntimeListener;
  /** Log of the container with this name; undefined for an unknown one. */
  readonly readLog: (container: string, query: LogQuery) => Readable | undefined;
}

/** The containers have no probes. */
const PROBER: ContainerProber = { probeOf: () => undefined, probe: () => undefined };

export class ComponentHandler implements RuntimeHandler {
  readonly name = "setpoint";
  readonly runsPrograms = false;
  readonly prober = PROBER;
  readonly #parts: ComponentHandlerParts;
  /** Names of the running containers by the uid of their pod. */
  readonly #running = new Map<string, Set<string>>();

  constructor(parts: ComponentHandlerParts) {
    this.#parts = parts;
  }

  run(signal: AbortSignal): Promise<void> {
    return untilAborted(signal);
  }

  list(): Promise<readonly FoundSandbox[]> {
    return Promise.resolve([]);
  }

  /** The components of an earlier process have ended with it. */
  adopt(): undefined {
    return undefined;
  }

  createSandbox({ pod, hostAddresses }: SandboxSpec): void {
    const { uid } = pod.metadata;
    this.#running.set(uid, new Set());
    this.#parts.listener.sandbox(uid, { type: "sandbox-ready", addresses: hostAddresses });
  }

  removeSandbox(uid: string): void {
    this.#running.delete(uid);
    this.#parts.listener.sandbox(uid, { type: "sandbox-removed" });
  }

  findImage(place: ContainerPlace): void {
    this.#parts.listener.container(keyOf(place), { type: "inspected", image: { id: imageOf(place) } });
  }

  /** The image is this program. */
  pull(place: ContainerPlace): void {
    const image = { id: imageOf(place) };
    this.#parts.listener.container(keyOf(place), { type: "pulled", image, sizeBytes: 0, tookMs: 0 });
  }

  start(start: ContainerStart): void {
    const { loop, listener } = this.#parts;
    this.#running.get(start.pod.metadata.uid)?.add(start.container.name);
    const id = `${this.name}://${Buffer.from(loop.random("container-ids").bytes(32)).toString("hex")}`;
    listener.container(keyOf(start), { type: "started", id, imageId: imageOf(start), at: loop.now() });
  }

  /** Only the pod ends: the component goes on, and the next mirror pod shows it again. */
  stop(key: ContainerKey): void {
    if (this.#running.get(key.uid)?.delete(key.container) !== true) return;
    const { loop, listener } = this.#parts;
    listener.container(key, { type: "exited", at: loop.now(), exitCode: 0 });
  }

  update(): void {
    // Nothing of the pod affects the component.
  }

  exec({ container }: ContainerKey): StreamSession {
    const message = `${container} is a part of the process setpoint, without a shell of its own; read its log`;
    return {
      stdin: undefined,
      stdout: undefined,
      stderr: undefined,
      resize: () => undefined,
      ended: Promise.resolve({ type: "failed", message }),
      close: () => undefined,
    };
  }

  attach(key: ContainerKey): StreamSession {
    return this.exec(key);
  }

  portForward(): Promise<Duplex> {
    return Promise.reject(
      new Error("the control plane has no ports in its pods; use the address of the API"),
    );
  }

  /** A file has the lines of earlier processes too: all runs have one log. */
  logs({ container }: ContainerPlace, query: LogQuery): Promise<Readable | undefined> {
    return Promise.resolve(this.#parts.readLog(container.name, query));
  }

  usage(): Promise<PodUsage | undefined> {
    return Promise.resolve(undefined);
  }

  findAnnotationProblems(): readonly string[] {
    return [];
  }
}

function keyOf({ pod, container }: ContainerPlace): ContainerKey {
  return { uid: pod.metadata.uid, container: container.name };
}

function imageOf({ container: { image = "" } }: ContainerPlace): string {
  return image;
}
