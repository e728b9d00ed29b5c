/** Process pods in namespaces of their own: files, networks and the way to the API server. */
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { basename, join } from "node:path";
import type { Readable } from "node:stream";
import { expect, test } from "vitest";
import type { ApiAddress } from "../../src/agent/process/api-gateway.ts";
import type { Isolation } from "../../src/agent/process/isolation.ts";
import { isAlive, signalGroup } from "../../src/agent/process/process-table.ts";
import { readIdentity } from "../../src/agent/process/run-folder.ts";
import { silentLog } from "../../src/base/log/log.ts";
import { ALL_RIGHTS } from "../conformance/all-rights.ts";
import { ProcessWorld, SERVER, UID } from "./process-world.ts";

export function processNamespaceSuite(isolation: Isolation): void {
  describeFiles(isolation);
  describeHostileFiles(isolation);
  describeRights(isolation);
  describeNetwork(isolation);
  describeApi(isolation);
  describeLaterAgents(isolation);
}

function describeFiles(isolation: Isolation): void {
  test("hide the data dir, other processes and the machine's name", async () => {
    await using world = await ProcessWorld.open(isolation);

    const log = await world.run([
      "sh",
      "-c",
      `ls -A ${world.machine.folder} 2>/dev/null | wc -l; ls /proc | grep -c '^[0-9]'; cat /proc/sys/kernel/hostname`,
    ]);

    const [files, processes, name] = log.trim().split("\n");
    expect(files).toBe("0");
    expect(Number(processes)).toBeLessThan(8);
    expect(name).toBe("web-0");
  });

  test("show volumes at their paths, and leave no trace of them on the machine", async () => {
    await using world = await ProcessWorld.open(isolation);
    const volume = join(world.machine.folder, "volume");
    mkdirSync(volume);
    writeFileSync(join(volume, "file"), "content\n");
    const mount = { volume: "v", hostPath: volume, propagation: "None" } as const;
    // There are mounts below /dev, above which a normal user may not put an overlay.
    const paths = [
      "/etc/setpoint-test/config",
      "/setpoint-test-root/data",
      "/var/run/secrets/setpoint-test",
      "/dev/setpoint-test",
    ];

    await world.run(
      [
        "sh",
        "-c",
        `cat ${paths.map((path) => `${path}/file`).join(" ")}; echo new >${String(paths[1])}/made; echo x >${String(paths[0])}/file`,
      ],
      {
        mounts: paths.map((containerPath, index) => ({ ...mount, containerPath, readOnly: index === 0 })),
      },
    );

    expect(await world.log({ stream: "Stdout" })).toBe("content\n".repeat(paths.length));
    expect(await world.log({ stream: "Stderr" })).toMatch(/Read-only file system/i);
    expect(readFileSync(join(volume, "made"), "utf8")).toBe("new\n");
    expect(
      ["/etc/setpoint-test", "/setpoint-test-root", "/run/secrets/setpoint-test", "/dev/setpoint-test"].map(
        existsSync,
      ),
    ).toEqual([false, false, false, false]);
  });
}

function describeHostileFiles(isolation: Isolation): void {
  test("hide the data dir in volumes that show folders above it", async () => {
    await using world = await ProcessWorld.open(isolation);
    const mount = { volume: "v", readOnly: false, propagation: "None" } as const;
    const paths = { "/mnt": join(world.machine.folder, ".."), "/setpoint-test-all": "/" };

    const shown = [`/mnt/${basename(world.machine.folder)}`, `/setpoint-test-all${world.machine.folder}`];
    const log = await world.run(
      ["sh", "-c", `for d in ${shown.join(" ")}; do ls -A $d | wc -l; done 2>&1; ls /mnt`],
      {
        mounts: Object.entries(paths).map(([containerPath, hostPath]) => ({
          ...mount,
          containerPath,
          hostPath,
        })),
      },
    );

    expect(log.replaceAll(/^ls: .*\n/gm, "")).toMatch(/^0\n0\n/);
    expect(log).toContain(basename(world.machine.folder));
  });

  test.each([
    { target: "a folder", link: ".", source: "folder" },
    { target: "a missing file", link: "setpoint-test-made", source: "file" },
  ])("refuse a mount in a volume that leads to $target elsewhere by a link", async ({ link, source }) => {
    await using world = await ProcessWorld.open(isolation);
    const [volume, inner, outside] = ["volume", "inner", "outside"].map((name) =>
      join(world.machine.folder, name),
    ) as [string, string, string];
    for (const folder of [volume, outside, ...(source === "folder" ? [inner] : [])]) mkdirSync(folder);
    if (source === "file") writeFileSync(inner, "");
    symlinkSync(join(outside, link), join(volume, "in"));
    const mount = { volume: "v", readOnly: false, propagation: "None" } as const;

    world.start(["true"], {
      mounts: [
        { ...mount, hostPath: volume, containerPath: "/mnt" },
        { ...mount, hostPath: inner, containerPath: "/mnt/in" },
      ],
    });

    expect((await world.report("start-failed")).message).toMatch(/^cannot mount: /);
    expect(readdirSync(outside)).toEqual([]);
  });

  test("refuse a folder that was exchanged after its check", async () => {
    await using world = await ProcessWorld.open(isolation);
    const volume = join(world.machine.folder, "volume");
    mkdirSync(volume);
    const { dev, ino } = statSync(world.machine.folder);
    const mount = { volume: "v", hostPath: volume, containerPath: "/mnt" } as const;

    world.start(["true"], {
      mounts: [{ ...mount, readOnly: false, propagation: "None", identity: `${String(dev)}:${String(ino)}` }],
    });

    expect((await world.report("start-failed")).message).toBe(
      `cannot mount: ${volume} has changed meanwhile`,
    );
  });
}

function describeRights(isolation: Isolation): void {
  test("keep what the security context takes away", async () => {
    await using world = await ProcessWorld.open(isolation);
    const volume = join(world.machine.folder, "volume");
    mkdirSync(volume);
    const mount = { volume: "v", hostPath: volume, containerPath: "/mnt", readOnly: false } as const;
    const status = "grep -E '^(NoNewPrivs|CapEff)' /proc/self/status";
    const written = ["/tmp/setpoint-test", "/mnt/file"];
    world.start(
      ["sh", "-c", `${status}; for f in ${written.join(" ")}; do echo x >$f; done; exec sleep 1000`],
      {
        mounts: [{ ...mount, propagation: "None" }],
        rights: {
          ...ALL_RIGHTS,
          mayGainPrivileges: false,
          droppedCapabilities: ["ALL"],
          hasReadOnlyRoot: true,
        },
      },
    );
    await world.until("it has written", () => existsSync(join(volume, "file")));

    const { output } = await world.exec(["sh", "-c", status]);

    expect(output).toMatch(/^CapEff:\s0+\nNoNewPrivs:\s1\n$/);
    expect(await world.log({ stream: "Stdout" })).toBe(output);
    expect(await world.log({ stream: "Stderr" })).toMatch(/setpoint-test.*Read-only file system\n$/i);
  });
}

function describeNetwork(isolation: Isolation): void {
  test("let several pods listen on one port, which the machine reaches", async () => {
    await using one = await ProcessWorld.open(isolation);
    one.start([process.execPath, "-e", SERVER]);
    await one.until("it listens", async () => (await one.log()) === "listening\n");

    const socket = await one.handler.portForward(UID, 8080);

    socket.end("GET / HTTP/1.0\r\n\r\n");
    expect(await readAll(socket)).toContain("from web-0");
    expect(one.addresses[0]).toMatch(/^10\.199\.9\./);
  });

  test("let the machine reach ports of the loopback address", async () => {
    await using world = await ProcessWorld.open(isolation);
    world.start([process.execPath, "-e", SERVER.replace("8080", '8080,"127.0.0.1"')]);
    await world.until("it listens", async () => (await world.log()) === "listening\n");

    const socket = await world.handler.portForward(UID, 8080);

    socket.end("GET / HTTP/1.0\r\n\r\n");
    expect(await readAll(socket)).toContain("from web-0");
    await expect(world.handler.portForward(UID, 8081)).rejects.toThrow(/refused/i);
    await expect(world.handler.dial(UID, 8080)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  test("let pods reach each other and share the machine's network if they want it", async () => {
    await using world = await ProcessWorld.open(isolation);
    world.handler.createSandbox(world.spec({}, "two"));
    world.handler.createSandbox(world.spec({ hostNetwork: true }, "host"));
    await world.untilReady("two");
    await world.untilReady("host");
    world.start([process.execPath, "-e", SERVER.replace("8080", "80")]);
    await world.until("it listens", async () => (await world.log()) === "listening\n");

    const client = `require("http").get("http://${String(world.addresses[0])}:80",r=>r.pipe(process.stdout))`;
    const answer = await world.run([process.execPath, "-e", client], { uid: "two" });
    world.start(["sh", "-c", "readlink /proc/self/ns/net; exec sleep 1000"], { uid: "host" });
    const network = `${readlinkSync("/proc/self/ns/net")}\n`;
    await world.until("it says its network", async () => (await world.log({}, "host")) === network);
    const beside = await world.exec(["readlink", "/proc/self/ns/net"], undefined, "host");

    expect(answer).toBe("from web-0");
    expect(beside.output).toBe(network);
    await world.remove("two");
    await world.remove("host");
  });
}

function describeLaterAgents(isolation: Isolation): void {
  test("are not given to a pod that began on a shared network", async () => {
    await using world = await ProcessWorld.open({ type: "shared", reason: "the test wants it" });
    world.start(["sleep", "1000"]);
    await world.report("started");

    await world.restart({ isolation });

    expect((await world.exec(["echo", "beside"])).output).toBe("beside\n");
    world.handler.stop({ uid: UID, container: "main" }, { signal: undefined, graceMs: 20_000 });
    expect((await world.report("exited")).exitCode).toBe(143);
  });
}

function describeApi(isolation: Isolation): void {
  test("share one way to the API server when they start together", async () => {
    await using api = await GreetedApi.open();
    const warnings: unknown[] = [];
    const log = { ...silentLog, warn: (...line: unknown[]) => warnings.push(line) };
    await using world = await ProcessWorld.start(isolation, { api: api.address, log });
    const uids = ["one", "two", "three"];

    for (const uid of uids) world.handler.createSandbox(world.spec({}, uid));
    for (const uid of uids) await world.untilReady(uid);
    for (const uid of uids) world.start(api.greet(uid), { uid });

    await world.until("all have reached the API server", () => api.greetings.length === uids.length);
    expect(api.greetings.toSorted()).toEqual(uids.toSorted());
    expect(warnings).toEqual([]);
    for (const uid of uids) await world.remove(uid);
  });

  test("reach the API server again after their network was lost", async () => {
    await using api = await GreetedApi.open();
    await using world = await ProcessWorld.open(isolation, { api: api.address });
    for (const folder of ["network", `pods/${UID}`]) {
      const holder = readIdentity(join(world.machine.folder, "process", folder, "holder"));
      signalGroup(holder?.pid ?? 0, "SIGKILL");
      await world.until("the holder has ended", () => holder !== undefined && !isAlive(holder));
    }

    world.start(api.greet("again"));

    await world.until("it has reached the API server", () => api.greetings.length > 0);
    expect(api.greetings).toEqual(["again"]);
  });
}

async function readAll(stream: Readable): Promise<string> {
  let text = "";
  for await (const piece of stream) text += String(piece);
  return text;
}

/** A server at the address of the Service `kubernetes` that notes what its clients say. */
class GreetedApi implements AsyncDisposable {
  readonly greetings: string[] = [];
  readonly address: ApiAddress;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    const { port } = server.address() as AddressInfo;
    this.address = {
      service: { address: "10.96.0.1", port: 443 },
      server: { host: "127.0.0.1", port },
    };
    server.on("connection", (socket) => socket.on("data", (chunk) => this.greetings.push(String(chunk))));
  }

  static async open(): Promise<GreetedApi> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new GreetedApi(server);
  }

  /** Command of a pod that says the word to the API server. */
  greet(word: string): readonly string[] {
    const { address, port } = this.address.service;
    const script = 'require("net").connect(+process.argv[2],process.argv[1]).end(process.argv[3])';
    return [process.execPath, "-e", script, address, String(port), word];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
