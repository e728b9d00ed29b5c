/** Volumes, variables and files of containers that are programs of this machine. */
import { execFileSync } from "node:child_process";
import {
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Programs } from "../../src/agent/programs/programs.ts";
import type { Program } from "../../src/agent/runtime-handler.ts";
import { VolumeSources } from "../../src/agent/volumes/volume-sources.ts";
import {
  ConfigMap,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Secret,
} from "../../src/api/generated/types/core-v1.ts";
import { silentLog } from "../../src/base/log/log.ts";
import { pause } from "../../src/base/loop/pause.ts";
import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import type { Cluster } from "../../src/cluster/in-program/start-cluster.ts";
import { openCluster } from "./agent-fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "setpoint-programs-"));
let count = 0;
const WAIT_MS = 90_000;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a program's volumes", () => {
  test("are folders with the files of ConfigMaps, Secrets, fields and a token that the server accepts", async () => {
    await using world = await open();
    await world.cluster
      .client(ConfigMap)
      .apply({ metadata: { name: "c", namespace: "default" }, data: { a: "1" } });
    await world.cluster
      .client(Secret)
      .apply({ metadata: { name: "s", namespace: "default" }, data: { b: "Mg==" } });
    const sources = [
      { configMap: { name: "c" } },
      { secret: { name: "s", items: [{ key: "b", path: "in/b", mode: 0o400 }] } },
      { downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
      { serviceAccountToken: { path: "token" } },
    ];
    const program = await world.build({ volumes: [{ name: "v", projected: { sources } }] });
    const path = hostPath(program, "/v");

    expect(readFileSync(join(path, "a"), "utf8")).toBe("1");
    expect(readFileSync(join(path, "in/b"), "utf8")).toBe("2");
    expect(statSync(join(path, "in/b")).mode & 0o777).toBe(0o400);
    expect(readFileSync(join(path, "labels"), "utf8")).toBe('app="web"');
    expect(readFileSync(join(path, "token"), "utf8").split(".")).toHaveLength(3);
    expect(program.mounts.find(({ volume }) => volume === "v")?.readOnly).toBe(true);
  });

  test("follow an edit of their ConfigMap at once, and keep their files when it is gone", async () => {
    await using world = await open();
    const client = world.cluster.client(ConfigMap);
    const key = { name: "c", namespace: "default" };
    await client.apply({ metadata: key, data: { a: "1", b: "1" } });
    const volumes = [{ name: "v", configMap: { name: "c" } }];
    const path = hostPath(await world.build({ volumes }), "/v");
    const data = readdirSync(path).filter((name) => name.startsWith("..2") || name.startsWith("..1"));

    await client.apply({ metadata: key, data: { a: "2", c: "3" } });
    await world.build({ volumes });

    expect(["a", "c"].map((name) => readFileSync(join(path, name), "utf8"))).toEqual(["2", "3"]);
    expect(readdirSync(path)).not.toContain("b");
    expect(readdirSync(path)).not.toContain(data[0]);
    await client.delete(key);
    await expect(world.build({ volumes })).rejects.toThrow('configmap "c" not found');
    expect(readFileSync(join(path, "a"), "utf8")).toBe("2");
  });

  test("of an optional source that appears later get its files", async () => {
    await using world = await open();
    const volumes = [{ name: "v", configMap: { name: "late", optional: true } }];
    const path = hostPath(await world.build({ volumes }), "/v");
    expect(readdirSync(path).filter((name) => !name.startsWith(".."))).toEqual([]);

    await world.cluster
      .client(ConfigMap)
      .apply({ metadata: { name: "late", namespace: "default" }, data: { a: "1" } });
    await world.build({ volumes });

    expect(readdirSync(path)).toContain("a");
  });

  test("keep what is written into an emptyDir until the pod is gone", async () => {
    await using world = await open();
    const volumes = [{ name: "v", emptyDir: {} }];
    const path = hostPath(await world.build({ volumes }), "/v");
    writeFileSync(join(path, "kept"), "x");

    await world.build({ volumes });

    expect(statSync(path).mode & 0o777).toBe(0o777);
    expect(readFileSync(join(path, "kept"), "utf8")).toBe("x");
    await world.programs.tearDown(world.uid);
    expect(readdirSync(join(world.dataDir, "pods"))).toEqual([]);
  });

  test("of a claim are the folder of its volume", async () => {
    await using world = await open();
    const data = join(world.dataDir, "volumes", "claimed");
    await world.claim("data", data);

    const volumes = [{ name: "v", persistentVolumeClaim: { claimName: "data" } }];
    const program = await world.build({ volumes });

    expect(hostPath(program, "/v")).toBe(data);
    expect(statSync(data).isDirectory()).toBe(true);
  });

  test("of a read-only claim are read-only in every container", async () => {
    await using world = await open();
    await world.claim("data", join(world.dataDir, "volumes", "claimed"));

    const claim = { claimName: "data", readOnly: true };
    const { mounts } = await world.build({ volumes: [{ name: "v", persistentVolumeClaim: claim }] });

    expect(mounts.find(({ volume }) => volume === "v")?.readOnly).toBe(true);
  });

  test("that the agent cannot set up fail with a reason", async () => {
    await using world = await open();

    const nfs = world.build({ volumes: [{ name: "v", nfs: { server: "s", path: "/" } }] });
    await expect(nfs).rejects.toThrow("no volume plugin matched nfs");
    const claim = world.build({ volumes: [{ name: "v", persistentVolumeClaim: { claimName: "none" } }] });
    await expect(claim).rejects.toThrow('persistentvolumeclaim "none" not found');
  });
});

/** No periodic update runs in these tests. */
describe("a running program", () => {
  test("sees an edit of its ConfigMap at once, all files together", async () => {
    await using world = await open();
    const write = async (data: Record<string, string>): Promise<unknown> =>
      world.cluster.client(ConfigMap).apply({ metadata: { name: "c", namespace: "default" }, data });
    await write({ a: "0", b: "0" });
    const volumes = [{ name: "v", configMap: { name: "c" } }];
    const path = hostPath(await world.build({ volumes }), "/v");
    const read = (): string => {
      const version = readlinkSync(join(path, "..data"));
      try {
        return ["a", "b"].map((name) => readFileSync(join(path, version, name), "utf8")).join();
      } catch {
        // The agent removed this version meanwhile.
        return read();
      }
    };
    const seen = new Set<string>();

    for (let edit = 1; edit <= 20; edit++) await write({ a: String(edit), b: String(edit) });
    await world.until("the last edit is seen", () => seen.add(read()).has("20,20"));

    expect([...seen].filter((text) => text.split(",")[0] !== text.split(",")[1])).toEqual([]);
  });

  test("sees an optional Secret appear and go", async () => {
    await using world = await open();
    const volumes = [{ name: "v", secret: { secretName: "s", optional: true } }];
    const path = hostPath(await world.build({ volumes }), "/v");
    const key = { name: "s", namespace: "default" };

    await world.cluster.client(Secret).apply({ metadata: key, data: { a: "MQ==" } });
    await world.until("the file is there", () => readdirSync(path).includes("a"));
    await world.cluster.client(Secret).delete(key);
    await world.until("the file is gone", () => !readdirSync(path).includes("a"));
  });

  test("has 50 ConfigMaps as volumes, which all follow an edit at once", async () => {
    await using world = await open();
    const names = Array.from({ length: 50 }, (_, index) => `c${String(index)}`);
    const write = async (text: string): Promise<void> => {
      const client = world.cluster.client(ConfigMap);
      await Promise.all(
        names.map((name) => client.apply({ metadata: { name, namespace: "default" }, data: { text } })),
      );
    };
    await write("one");
    const volumes = names.map((name) => ({ name, configMap: { name } }));
    const volumeMounts = names.map((name) => ({ name, mountPath: `/${name}` }));
    const program = await world.build({
      volumes,
      containers: [{ name: "main", image: "web", resources: {}, volumeMounts }],
    });
    const read = (): readonly string[] =>
      names.map((name) => readFileSync(join(hostPath(program, `/${name}`), "text"), "utf8"));
    expect(new Set(read())).toEqual(new Set(["one"]));

    await write("two");

    await world.until("all are new", () => read().every((text) => text === "two"));
  });

  test("is not followed any more when it is gone", async () => {
    await using world = await open();
    const key = { name: "c", namespace: "default" };
    const volumes = [{ name: "v", configMap: { name: "c", optional: true } }];
    await world.build({ volumes });
    await world.programs.tearDown(world.uid);

    await world.cluster.client(ConfigMap).apply({ metadata: key, data: { a: "1" } });
    await world.programs.run(AbortSignal.abort());

    expect(readdirSync(join(world.dataDir, "pods"))).toEqual([]);
  });
});

describe("a program", () => {
  test("has files of its own: hosts, a termination log, and a folder for its log", async () => {
    await using world = await open();
    const program = await world.build({ volumes: [{ name: "v", emptyDir: {} }] });

    expect(readFileSync(hostPath(program, "/etc/hosts"), "utf8")).toContain("10.0.0.2\tweb\n");
    expect(readFileSync(hostPath(program, "/dev/termination-log"), "utf8")).toBe("");
    expect(program.logPath).toBe(
      join(world.dataDir, "pods-logs", `default_web_${world.uid}`, "main", "0.log"),
    );
    expect(program.env.get("KUBERNETES_SERVICE_HOST")).toMatch(/^[\d.]+$/);
  });

  test("has volumes and logs that no other user of the machine reads", async () => {
    await using world = await open();
    const { logPath } = await world.build({ volumes: [{ name: "v", emptyDir: {} }] });

    for (const folder of [join(world.dataDir, "pods"), join(world.dataDir, "pods-logs"), dirname(logPath)])
      expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  test("leaves a message in its termination log", async () => {
    await using world = await open();
    const program = await world.build({ volumes: [{ name: "v", emptyDir: {} }] });
    writeFileSync(hostPath(program, "/dev/termination-log"), "out of coffee");

    expect(await world.findMessage()).toBe("out of coffee");
  });

  test("leaves no message by a link or a pipe in place of its termination log", async () => {
    await using world = await open();
    const path = hostPath(
      await world.build({ volumes: [{ name: "v", emptyDir: {} }] }),
      "/dev/termination-log",
    );
    rmSync(path);

    symlinkSync("/etc/passwd", path);
    const byLink = await world.findMessage();
    rmSync(path);
    execFileSync("mkfifo", [path]);

    expect([byLink, await world.findMessage()]).toEqual([undefined, undefined]);
  });

  test("that is gone loses its files at the next start of the agent", async () => {
    await using world = await open();
    await world.build({ volumes: [{ name: "v", emptyDir: {} }] });

    await world.programs.sweep(new Set([world.uid]));
    expect(readdirSync(join(world.dataDir, "pods"))).toEqual([world.uid]);
    await world.programs.sweep(new Set());

    expect(readdirSync(join(world.dataDir, "pods"))).toEqual([]);
    expect(readdirSync(join(world.dataDir, "pods-logs"))).toEqual([]);
  });
});

type OwnSpec = Partial<Pick<Pod["spec"], "volumes" | "containers">>;

interface World extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly programs: Programs;
  readonly dataDir: string;
  readonly uid: string;
  build(spec: OwnSpec): Promise<Program>;
  findMessage(): Promise<string | undefined>;
  claim(name: string, path: string): Promise<void>;
  until(what: string, isDone: () => boolean): Promise<void>;
}

/** A cluster with one pod, which no node runs. */
async function open(): Promise<World> {
  const cluster = await openCluster({ loops: "none", nodes: 0 });
  const dataDir = join(folder, String(++count));
  const loop = createRealLoop({ name: "test" });
  const sources = new VolumeSources(cluster.client, () => loop.now());
  const programs = new Programs({
    ...{ loop, log: silentLog, dataDir },
    clientOf: () => cluster.client,
    sourcesOf: () => sources,
    allocatableOf: () => ({ cpu: "4" }),
  });
  const containers = [{ name: "main", image: "web", volumeMounts: [{ name: "v", mountPath: "/v" }] }];
  const made = await cluster.client(Pod).create({
    metadata: { name: "web", namespace: "default", labels: { app: "web" } },
    spec: {
      containers,
      volumes: [{ name: "v", emptyDir: {} }],
      automountServiceAccountToken: false,
      serviceAccountName: "default",
    },
  });
  const place = (spec: OwnSpec) => {
    const pod = { ...made, spec: { ...made.spec, ...spec, nodeName: "node-1" } };
    const [container] = pod.spec.containers;
    if (container === undefined) throw new Error("the pod has no container");
    return { node: "node-1", pod, container };
  };
  const addresses = { hostAddresses: ["192.0.2.7"], addresses: ["10.0.0.2"] };
  return {
    ...{ cluster, programs, dataDir, uid: made.metadata.uid },
    build: (spec) => programs.build({ ...place(spec), attempt: 0, addresses }),
    findMessage: () => {
      const logs = { logs: () => Promise.resolve(undefined) };
      return programs.findMessage(logs, place({}), { at: 0, exitCode: 0 });
    },
    claim: async (name, path) => {
      const capacity = { storage: "1Gi" };
      const common = { accessModes: ["ReadWriteOnce"], storageClassName: "" } as const;
      const hostPathSource = { path, type: "DirectoryOrCreate" } as const;
      const volume = { ...common, capacity, hostPath: hostPathSource };
      await cluster.client(PersistentVolume).create({ metadata: { name: "pv" }, spec: volume });
      const claims = cluster.client(PersistentVolumeClaim);
      const claim = await claims.create({
        metadata: { name, namespace: "default" },
        spec: { ...common, resources: { requests: capacity }, volumeName: "pv" },
      });
      await claims.patch(
        claim,
        { type: "merge", changes: { status: { phase: "Bound" } } },
        { subresource: "status" },
      );
    },
    until: async (what, isDone) => {
      for (let waited = 0; !isDone(); waited += 10) {
        if (waited > WAIT_MS) throw new Error(`timed out until ${what}`);
        await pause(loop, { ms: 10, kind: "progress" });
      }
    },
    [Symbol.asyncDispose]: async () => {
      await programs.run(AbortSignal.abort());
      await cluster.stop();
    },
  };
}

function hostPath({ mounts }: Program, path: string): string {
  const found = mounts.find(({ containerPath }) => containerPath === path);
  if (found === undefined) throw new Error(`nothing is mounted at ${path}`);
  return found.hostPath;
}
