/** The agent with containers that are processes: volumes, variables, probes, hooks, messages, logs, and its own restarts. */
import { once } from "node:events";
import { readFileSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { listProcesses } from "../../src/agent/process/process-table.ts";
import { ConfigMap, Pod } from "../../src/api/generated/types/core-v1.ts";
import { AgentWorld } from "./agent-process-world.ts";

describe.skipIf(process.platform === "win32")("a container that is a process", () => {
  test("has its variables, and leaves a message at its end", async () => {
    await using world = await AgentWorld.open();
    const env = [
      { name: "WHO", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      { name: "TEXT", valueFrom: { configMapKeyRef: { name: "c", key: "text" } } },
      { name: "BOTH", value: "$(WHO)-$(TEXT)" },
    ];
    await world.cluster
      .client(ConfigMap)
      .apply({ metadata: { name: "c", namespace: "default" }, data: { text: "t" } });
    await world.run("web", {
      command: ["sh", "-c", 'echo "says $BOTH"; exit 3'],
      ...{ env, terminationMessagePolicy: "FallbackToLogsOnError" },
    });

    const { state } = await world.container("web", ({ state }) => state.terminated !== undefined);

    expect(state.terminated).toMatchObject({ exitCode: 3, message: "says web-t\n" });
  });

  test("that cannot listen on its port gets an Event that names $PORT", async () => {
    await using world = await AgentWorld.open();
    const server = createServer().listen(0);
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const script = `require("http").createServer().listen(+process.argv[1])`;
    const command = [process.execPath, "-e", script];
    const ports = [{ name: "http", containerPort: port }];

    await world.run("taken", { command: [...command, String(port)], ports });
    await world.container("taken", ({ state }) => state.terminated !== undefined);
    await world.until("there is an Event", () => world.events("taken").some((text) => /\$PORT/.test(text)));

    const [text] = world.events("taken").filter((each) => each.includes("$PORT"));
    expect(text).toMatch(
      new RegExp(
        String.raw`^Warning Failed Container main could not listen on its port: .* on \$PORT, a free port \(\d+ for ${port}\), or run setpoint as root`,
      ),
    );
    await world.run("heeds", {
      command: ["sh", "-c", `exec ${process.execPath} -e '${script}' $PORT_HTTP`],
      ports,
    });
    await world.container("heeds", ({ state }) => state.running !== undefined);
    server.close();
  });

  test("runs its hooks", async () => {
    await using world = await AgentWorld.open();
    const mark = (name: string) => ({
      exec: { command: ["sh", "-c", `echo hook > ${join(world.dataDir, name)}`] },
    });
    await world.run("web", {
      command: ["sleep", "1000"],
      lifecycle: { postStart: mark("begun"), preStop: mark("ending") },
    });
    await world.until("the postStart hook has run", () => readdirSync(world.dataDir).includes("begun"));

    await world.cluster.client(Pod).delete({ name: "web", namespace: "default" });
    await world.until("the pod is gone", () => world.find("web") === undefined);

    expect(readFileSync(join(world.dataDir, "ending"), "utf8")).toBe("hook\n");
    await world.until("its files are gone", () => readdirSync(join(world.dataDir, "pods")).length === 0);
  });

  test("survives a restart of the agent, which finds it again and ends it with its pod", async () => {
    await using world = await AgentWorld.open();
    await world.run("web", { command: ["sleep", "1000"] }, "Always");
    const before = await world.container("web", ({ state }) => state.running !== undefined);

    await world.restart();
    await world.until("the agent has seen the pod", () => world.find("web") !== undefined);
    const after = await world.container("web", ({ state }) => state.running !== undefined);

    expect(after).toMatchObject({ containerID: before.containerID, restartCount: 0 });
    await world.cluster.client(Pod).delete({ name: "web", namespace: "default" }, { gracePeriodSeconds: 1 });
    await world.until("the pod is gone", () => world.find("web") === undefined);
    await world.until("its processes are gone", () => world.processes().length === 0);
  });

  test("that ended while the agent was away is seen to have ended", async () => {
    await using world = await AgentWorld.open();
    // Other tests sleep too.
    const words = `sleep 31536004.${String(process.pid)}`;
    const findSleeper = () => listProcesses().find((row) => row.arguments === words);
    await world.run("web", { command: words.split(" ") });
    const before = await world.container("web", ({ state }) => state.running !== undefined);
    await world.until("it sleeps", () => findSleeper() !== undefined);

    await world.stop();
    process.kill(findSleeper()?.pid ?? 0, "SIGKILL");
    world.start();
    const after = await world.container("web", ({ state }) => state.terminated !== undefined);

    expect(after.state.terminated).toMatchObject({ exitCode: 137, containerID: before.containerID });
  });

  test("of a pod deleted while the agent was away ends when it is back", async () => {
    await using world = await AgentWorld.open();
    await world.run("web", { command: ["sleep", "1000"] }, "Always");
    await world.container("web", ({ state }) => state.running !== undefined);

    await world.stop();
    await world.cluster.client(Pod).delete({ name: "web", namespace: "default" }, { gracePeriodSeconds: 0 });
    world.start();

    await world.until("its processes are gone", () => world.processes().length === 0);
  });
});

describe.skipIf(process.platform === "win32")("the log of a process pod", () => {
  test("stays as long as the pod, also for an agent that has restarted", async () => {
    await using world = await AgentWorld.open();
    await world.run("done", { command: ["sh", "-c", "echo one; echo two >&2"] });
    await world.container("done", ({ state }) => state.terminated !== undefined);
    await world.until("its sandbox is gone", () => world.sandboxes().length === 0);

    expect((await world.log("done")).text.split("\n").toSorted()).toEqual(["", "one", "two"]);
    await world.restart();
    await world.until("the agent is back", () => world.isServing());
    expect((await world.log("done", "stream=Stderr")).text).toBe("two\n");
    expect(await world.log("done", "follow=true")).toMatchObject({ status: 200 });

    await world.cluster.client(Pod).delete({ name: "done", namespace: "default" });
    await world.until("its files are gone", () => readdirSync(join(world.dataDir, "pods-logs")).length === 0);
    expect(await world.log("done")).toMatchObject({ status: 404 });
  });

  test.skipIf(process.platform !== "linux")(
    "is followed by 200 clients at once, who leave nothing open",
    async () => {
      await using world = await AgentWorld.open();
      const mark = join(world.dataDir, "mark");
      const script = `echo one; until [ -e ${mark} ]; do sleep 0.05; done; echo two; exec sleep 1000`;
      await world.run("web", { command: ["sh", "-c", script] });
      await world.container("web", ({ state }) => state.running !== undefined);
      const followed = await Promise.all(Array.from({ length: 200 }, () => world.follow("web")));
      const texts = followed.map(() => "");
      for (const [index, each] of followed.entries())
        each.on("data", (piece) => (texts[index] += String(piece)));
      await world.until("all have the first line", () => texts.every((text) => text === "one\n"));

      writeFileSync(mark, "");
      await world.until("all have the next line", () => texts.every((text) => text === "one\ntwo\n"));
      for (const each of followed) each.destroy();

      // The writer has it open.
      await world.until("nobody else has it open", () => openFiles(join(world.dataDir, "pods-logs")) === 1);
    },
  );

  test("is also that of the run before, while the container runs again and after its end", async () => {
    await using world = await AgentWorld.open();
    const mark = join(world.dataDir, "mark");
    const script = `[ -e ${mark} ] && echo second && exit 0; echo first; touch ${mark}; exit 1`;
    await world.run("web", { command: ["sh", "-c", script] }, "OnFailure");
    await world.container("web", ({ state }) => state.terminated?.exitCode === 0);
    await world.until("its sandbox is gone", () => world.sandboxes().length === 0);

    expect((await world.log("web")).text).toBe("second\n");
    expect((await world.log("web", "previous=true")).text).toBe("first\n");
  });
});

/** Number of files below the folder that this process has open. */
function openFiles(folder: string): number {
  const targets = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return "";
    }
  });
  return targets.filter((target) => target.startsWith(`${folder}/`)).length;
}
