/** The suite that every runtime handler passes: the sentences of src/agent/runtime-handler.ts. */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import type {
  ContainerReport,
  ContainerStart,
  FoundSandbox,
  LogQuery,
  Program,
  RuntimeHandler,
  RuntimeHandlerFactory,
  RuntimeListener,
  SandboxReport,
  SandboxSpec,
} from "../../src/agent/runtime-handler.ts";
import type { Container, ContainerStatus, Pod } from "../../src/api/generated/types/core-v1.ts";
import { ALL_RIGHTS } from "./all-rights.ts";
import type { FixtureTime } from "./open-store-fixture.ts";

export interface HandlerEngine {
  readonly name: string;
  /** A machine on which handlers can be started one after the other. */
  readonly open: () => Promise<HandlerMachine>;
  /** Skips the suite with this reason. */
  readonly skip?: string;
}

export interface HandlerMachine extends AsyncDisposable {
  readonly time: FixtureTime;
  /** Steps of time while a test waits. */
  readonly waitMs: number;
  /** A handler over the machine's present state. */
  readonly create: RuntimeHandlerFactory;
  /** Image that the handler can run. */
  readonly image: string;
  /** Folder for logs and volumes; undefined for a handler that runs no programs. */
  readonly folder: string | undefined;
}

const FOREVER = ["sh", "-c", "echo begun; sleep 100000"];
const LOGS: LogQuery = {
  ...{ attempt: undefined, follow: false, timestamps: false, stream: "All" },
  ...{ tailLines: undefined, sinceMs: undefined, limitBytes: undefined },
};
const MAX_WAITS = 2000;

export function runtimeHandlerSuite(engine: HandlerEngine): void {
  describe.skipIf(engine.skip !== undefined)(`the ${engine.name} handler`, () => {
    describeSandboxes(engine);
    describeContainers(engine);
    describeStops(engine);
    describeRestarts(engine);
    describeStreams(engine);
  });
}

function describeSandboxes(engine: HandlerEngine): void {
  test("gives each pod a sandbox with an address of its own", async () => {
    await using world = await World.open(engine);

    const [one, two] = [await world.sandbox("one"), await world.sandbox("two")];

    expect(one.length).toBeGreaterThan(0);
    expect(new Set([...one, ...two]).size).toBe(one.length + two.length);
  });

  test("removes a sandbox with its containers, without reports about them", async () => {
    await using world = await World.open(engine);
    await world.sandbox("one");
    await world.started(world.container("one", FOREVER));

    world.handler.removeSandbox("one");
    await world.until("the sandbox is removed", () => world.saw("one", "sandbox-removed"));

    expect(world.reportsOf("one", "main").map(({ type }) => type)).not.toContain("exited");
    expect(await world.handler.usage("one")).toBeUndefined();
  });

  test("confirms the removal of an unknown sandbox", async () => {
    await using world = await World.open(engine);

    world.handler.removeSandbox("unknown");

    await world.until("the removal is confirmed", () => world.saw("unknown", "sandbox-removed"));
  });

  test("makes a new sandbox for a pod whose earlier one was removed", async () => {
    await using world = await World.open(engine);
    await world.sandbox("one");

    world.handler.removeSandbox("one");
    const addresses = await world.sandbox("one");

    expect(addresses.length).toBeGreaterThan(0);
    await world.started(world.container("one", FOREVER));
  });
}

function describeContainers(engine: HandlerEngine): void {
  test("finds an image after its pull", async () => {
    await using world = await World.open(engine);
    await world.sandbox("one");
    const start = world.container("one", FOREVER);

    world.handler.pull(start);
    const pulled = await world.report("one", "main", "pulled");
    world.handler.findImage(start);
    const found = await world.report("one", "main", "inspected");

    expect(found.image).toEqual(pulled.image);
  });

  test.each([0, 7])("reports the start of a container, and its end with code %i", async (exitCode) => {
    await using world = await World.open(engine);
    await world.sandbox("one");

    world.handler.start(world.container("one", ["sh", "-c", `sleep 1; exit ${exitCode}`]));
    const started = await world.report("one", "main", "started");
    const exited = await world.report("one", "main", "exited");

    expect(started.id).toMatch(new RegExp(`^${world.handler.name}://\\S+$`));
    expect(exited.exitCode).toBe(exitCode);
    expect(exited.at).toBeGreaterThanOrEqual(started.at);
    expect(world.reportsOf("one", "main").map(({ type }) => type)).toEqual(["started", "exited"]);
  });

  test("runs a container again, with another id", async () => {
    await using world = await World.open(engine);
    await world.sandbox("one");
    world.handler.start(world.container("one", ["sh", "-c", "exit 1"]));
    const { id } = await world.report("one", "main", "started");
    await world.report("one", "main", "exited");

    world.reports.length = 0;
    const next = await world.started({ ...world.container("one", FOREVER), attempt: 1 });

    expect(next).not.toBe(id);
  });

  test("measures running containers only", async () => {
    await using world = await World.open(engine);
    await world.sandbox("one");
    await world.started(world.container("one", FOREVER));
    world.handler.start(world.container("one", ["sh", "-c", "exit 0"], "short"));
    await world.report("one", "short", "exited");

    const usage = await world.handler.usage("one");

    expect(usage?.containers).toMatchObject([{ name: "main" }]);
    expect(usage?.containers[0]?.memoryBytes).toBeGreaterThan(0);
  });
}

function describeStops(engine: HandlerEngine): void {
  test("ends a container by its stop signal", async () => {
    await using world = await World.open(engine);
    await world.sandbox("one");
    await world.started(world.container("one", FOREVER));

    world.handler.stop({ uid: "one", container: "main" }, { signal: undefined, graceMs: 20_000 });
    const exited = await world.report("one", "main", "exited");

    expect(exited.exitCode).toBe(143);
  });

  test("kills a container that ignores the signal at the end of the grace period", async () => {
    await using world = await World.open(engine);
    await world.sandbox("one");
    const stubborn = world.container("one", [
      "sh",
      "-c",
      "trap '' TERM; echo begun; while :; do sleep 1; done",
    ]);
    await world.begun(stubborn);
    const stoppedAt = world.now();

    world.handler.stop({ uid: "one", container: "main" }, { signal: "SIGTERM", graceMs: 1500 });
    const exited = await world.report("one", "main", "exited");

    expect(exited.exitCode).toBe(137);
    expect(exited.at - stoppedAt).toBeGreaterThanOrEqual(1000);
  });

  test("shortens the grace period by a later call", async () => {
    await using world = await World.open(engine);
    await world.sandbox("one");
    await world.begun(
      world.container("one", ["sh", "-c", "trap '' TERM; echo begun; while :; do sleep 1; done"]),
    );
    const key = { uid: "one", container: "main" };

    world.handler.stop(key, { signal: "SIGTERM", graceMs: 3_600_000 });
    world.handler.stop(key, { signal: "SIGTERM", graceMs: 500 });

    expect(await world.report("one", "main", "exited")).toMatchObject({ exitCode: 137 });
  });

  test("ignores a stop of an unknown container", async () => {
    await using world = await World.open(engine);

    world.handler.stop({ uid: "none", container: "main" }, { signal: undefined, graceMs: 0 });
    await world.sandbox("one");

    expect(world.reportsOf("none", "main")).toEqual([]);
  });
}

function describeRestarts(engine: HandlerEngine): void {
  test("finds running containers after a restart of the agent, and reports their end", async () => {
    await using world = await World.open(engine);
    await world.sandbox("one");
    const id = await world.started(world.container("one", FOREVER));

    const found = await world.restart("one");
    world.handler.stop({ uid: "one", container: "main" }, { signal: undefined, graceMs: 20_000 });

    expect(found?.containers).toMatchObject([{ name: "main", id, attempt: 0, exit: undefined }]);
    expect(found?.addresses).toEqual(world.spec("one").addresses);
    expect(await world.report("one", "main", "exited")).toMatchObject({ exitCode: 143 });
  });

  test("knows no pod that it has not run", async () => {
    await using world = await World.open(engine);

    await world.handler.list();

    expect(world.handler.adopt(world.spec("other"))).toBeUndefined();
  });
}

function describeStreams(engine: HandlerEngine): void {
  test("serves the log of a run, and none of a run that never was", async () => {
    await using world = await World.open(engine);
    await world.sandbox("one");
    const start = world.container("one", FOREVER);
    await world.started(start);

    const place = { ...start, pod: world.shown("one") };
    const text = await world.text(async () => world.handler.logs(place, LOGS));

    expect(text).toMatch(/\n$/);
    expect(await world.handler.logs(place, { ...LOGS, attempt: 1 })).toBeUndefined();
  });

  test("fails an exec in a container that does not run", async () => {
    await using world = await World.open(engine);
    const streams = { stdin: false, stdout: true, stderr: true, tty: false };

    const session = world.handler.exec({ uid: "none", container: "main" }, { command: ["true"], ...streams });

    expect(await session.ended).toMatchObject({ type: "failed" });
  });

  test("refuses a port-forward to an unknown pod", async () => {
    await using world = await World.open(engine);

    await expect(world.handler.portForward("none", 80)).rejects.toThrow(/./);
  });
}

type SeenReport =
  | { readonly uid: string; readonly container: undefined; readonly report: SandboxReport }
  | { readonly uid: string; readonly container: string; readonly report: ContainerReport };

/** A machine with one running handler and its reports. */
class World implements AsyncDisposable {
  readonly reports: SeenReport[] = [];
  handler: RuntimeHandler;
  readonly #machine: HandlerMachine;
  readonly #pods = new Map<string, Pod>();
  #ending = new AbortController();
  #running: Promise<void>;

  private constructor(machine: HandlerMachine) {
    this.#machine = machine;
    this.handler = machine.create(this.#listener());
    this.#running = this.handler.run(this.#ending.signal);
  }

  static async open(engine: HandlerEngine): Promise<World> {
    const world = new World(await engine.open());
    await world.handler.list();
    return world;
  }

  now(): number {
    return this.#machine.time.loop.now();
  }

  spec(uid: string): SandboxSpec {
    const pod = this.shown(uid);
    return {
      node: "node-1",
      pod,
      podCidrs: ["10.199.7.0/24"],
      hostAddresses: ["192.0.2.7"],
      addresses: (pod.status.podIPs ?? []).map(({ ip }) => ip),
      hostname: uid,
    };
  }

  /** The pod as the API shows it. */
  shown(uid: string): Pod {
    const known = this.#pods.get(uid) ?? podOf(uid);
    const containerStatuses = this.#statuses(uid);
    const pod = { ...known, status: { ...known.status, containerStatuses } };
    this.#pods.set(uid, pod);
    return pod;
  }

  async sandbox(uid: string): Promise<readonly string[]> {
    this.#forgetSandbox(uid);
    this.handler.createSandbox(this.spec(uid));
    await this.until("the sandbox is ready", () => this.saw(uid, "sandbox-ready"));
    const ready = this.reports.flatMap((seen) =>
      seen.uid === uid && seen.report.type === "sandbox-ready" ? [seen.report.addresses] : [],
    );
    const addresses = ready.at(-1) ?? [];
    const pod = this.shown(uid);
    this.#pods.set(uid, { ...pod, status: { ...pod.status, podIPs: addresses.map((ip) => ({ ip })) } });
    return addresses;
  }

  container(uid: string, command: readonly string[], name = "main"): ContainerStart {
    const isStubborn = command.some((word) => word.includes("trap"));
    const container: Container = { name, image: this.#machine.image, command, resources: {} };
    const shown = this.shown(uid);
    const annotations = isStubborn ? { "simulated.setpoint.dev/termination-time": "never" } : {};
    const others = shown.spec.containers.filter((each) => each.name !== name);
    const spec = { ...shown.spec, containers: [...others, container] };
    const pod = { ...shown, metadata: { ...shown.metadata, annotations }, spec };
    this.#pods.set(uid, pod);
    return { node: "node-1", pod, container, attempt: 0, program: this.#program(pod, container) };
  }

  /** The id of the started container. */
  async started(start: ContainerStart): Promise<string> {
    this.handler.start(start);
    return (await this.report(start.pod.metadata.uid, start.container.name, "started")).id;
  }

  /** Started, and far enough to have written its first line. */
  async begun(start: ContainerStart): Promise<void> {
    await this.started(start);
    const place = { ...start, pod: this.shown(start.pod.metadata.uid) };
    await this.text(async () => this.handler.logs(place, LOGS));
  }

  reportsOf(uid: string, container: string): readonly ContainerReport[] {
    return this.reports.flatMap((seen) =>
      seen.uid === uid && seen.container === container ? [seen.report] : [],
    );
  }

  saw(uid: string, type: SandboxReport["type"]): boolean {
    return this.reports.some((seen) => seen.uid === uid && seen.report.type === type);
  }

  async report<T extends ContainerReport["type"]>(
    uid: string,
    container: string,
    type: T,
  ): Promise<Extract<ContainerReport, { type: T }>> {
    const find = (): ContainerReport | undefined =>
      this.reportsOf(uid, container).find((report) => report.type === type);
    await this.until(`${container} is ${type}`, () => find() !== undefined);
    return find() as Extract<ContainerReport, { type: T }>;
  }

  async text(open: () => Promise<Readable | undefined>): Promise<string> {
    let text = "";
    for (let left = MAX_WAITS; !text.endsWith("\n") && left > 0; left--) {
      text = "";
      for await (const chunk of (await open()) ?? []) text += String(chunk);
      await this.#machine.time.pass(this.#machine.waitMs);
    }
    return text;
  }

  async until(what: string, isDone: () => boolean): Promise<void> {
    for (let left = MAX_WAITS; !isDone(); left--) {
      if (left === 0) throw new Error(`timed out until ${what}; saw ${JSON.stringify(this.reports)}`);
      await this.#machine.time.pass(this.#machine.waitMs);
    }
  }

  /** Ends the handler and starts another one, which adopts the pod. */
  async restart(uid: string): Promise<FoundSandbox | undefined> {
    const spec = this.spec(uid);
    this.#ending.abort();
    await this.#running;
    this.#ending = new AbortController();
    this.reports.length = 0;
    this.handler = this.#machine.create(this.#listener());
    this.#running = this.handler.run(this.#ending.signal);
    await this.handler.list();
    return this.handler.adopt(spec);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const uid of this.#pods.keys()) {
      this.#forgetSandbox(uid);
      this.handler.removeSandbox(uid);
      await this.until("all sandboxes are removed", () => this.saw(uid, "sandbox-removed"));
    }
    this.#ending.abort();
    await this.#running;
    await this.#machine[Symbol.asyncDispose]();
  }

  #forgetSandbox(uid: string): void {
    const left = this.reports.filter((seen) => seen.uid !== uid || seen.container !== undefined);
    this.reports.splice(0, this.reports.length, ...left);
  }

  #listener(): RuntimeListener {
    return {
      sandbox: (uid, report) => this.reports.push({ uid, container: undefined, report }),
      container: ({ uid, container }, report) => this.reports.push({ uid, container, report }),
    };
  }

  #statuses(uid: string): readonly ContainerStatus[] {
    return this.reports.flatMap(({ uid: of, container, report }) => {
      if (of !== uid || container === undefined || report.type !== "started") return [];
      const startedAt = new Date(report.at).toISOString();
      const state = { running: { startedAt } };
      const image = { image: this.#machine.image, imageID: report.imageId };
      return [
        {
          name: container,
          containerID: report.id,
          ...image,
          state,
          lastState: {},
          ready: true,
          restartCount: 0,
        },
      ];
    });
  }

  #program(pod: Pod, container: Container): Program | undefined {
    const { folder } = this.#machine;
    if (folder === undefined) return undefined;
    const { name, namespace = "default", uid } = pod.metadata;
    const logPath = join(folder, "pods-logs", `${namespace}_${name}_${uid}`, container.name, "0.log");
    mkdirSync(dirname(logPath), { recursive: true });
    return {
      command: container.command ?? [],
      args: [],
      workingDir: undefined,
      env: new Map([["PATH", "/usr/bin:/bin"]]),
      user: { uid: undefined, gid: undefined, supplementalGroups: [] },
      rights: ALL_RIGHTS,
      mounts: [],
      limits: { cpuRequestMillis: undefined, cpuLimitMillis: undefined, memoryLimitBytes: undefined },
      logPath,
      stdin: false,
      stdinOnce: false,
      tty: false,
      ports: [],
    };
  }
}

function podOf(uid: string): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: uid, namespace: "default", uid, resourceVersion: "1", creationTimestamp: "" },
    // A simulated server that should run for ever would end with 0.
    spec: { containers: [], restartPolicy: "Never" },
    status: {},
  };
}
