/** Process pods with and without namespaces. Those of a normal user, when root runs the tests, are in test/as-user. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Isolation } from "../../src/agent/process/isolation.ts";
import { namespacesHere, SHARED } from "../conformance/process-machine.ts";
import { fillWithNothing, mountSmallDisk } from "../faults/small-disk.ts";
import { processNamespaceSuite } from "./process-namespace-suite.ts";
import { processProgramSuite } from "./process-program-suite.ts";
import { hasProcess, ProcessWorld, SERVER, UID } from "./process-world.ts";

const namespaces = await namespacesHere();
const isRoot = process.getuid?.() === 0;
const KINDS = [
  { kind: "with namespaces", isolation: namespaces, skip: reasonOf(namespaces) },
  {
    kind: "on a shared network",
    isolation: SHARED,
    skip: process.platform === "win32" ? "needs a POSIX system" : "",
  },
];

for (const { kind, isolation, skip } of KINDS)
  describe.skipIf(skip !== "")(`a process pod ${kind} ${skip}`, () => {
    processProgramSuite(isolation);
  });

function reasonOf(isolation: Isolation): string {
  return isolation.type === "shared" ? `(needs namespaces: ${isolation.reason})` : "";
}

describe.skipIf(namespaces.type === "shared")(
  `the namespaces of a process pod ${reasonOf(namespaces)}`,
  () => {
    processNamespaceSuite(namespaces);

    test.skipIf(!isRoot)("run the program as another user", async () => {
      await using world = await ProcessWorld.open(namespaces);

      const log = await world.run(["id"], { user: { uid: 65_534, gid: 65_533, supplementalGroups: [7] } });

      expect(log).toMatch(/^uid=65534\S* gid=65533\S* groups=65533\S*,7/);
    });
  },
);

describe.skipIf(process.platform === "win32")("a process pod on a shared network", () => {
  test("goes on when its disk is full, and so does its log once there is room", async ({ skip }) => {
    await using disk = await mountSmallDisk();
    if (disk === undefined) return skip("this user may not mount a tmpfs");
    const elsewhere = mkdtempSync(join(tmpdir(), "setpoint-elsewhere-"));
    const [mark, stop] = [join(elsewhere, "mark"), join(elsewhere, "stop")];
    await using world = await ProcessWorld.open(SHARED, { folder: join(disk.dir, "data") });
    const counted = (): number => Number(readFileSync(mark, "utf8"));
    const logged = async (): Promise<readonly number[]> =>
      (await world.log()).trimEnd().split("\n").map(Number);
    const newest = async (): Promise<number> => (await logged()).at(-1) ?? 0;
    const count = `i=$((i+1)); echo $i; [ $((i % 10)) = 0 ] && echo $i >${mark}`;
    world.start(["sh", "-c", `i=0; until [ -e ${stop} ]; do ${count}; sleep 0.002; done; exit 7`]);
    await world.until("it has begun", async () => (await newest()) > 10);

    fillWithNothing(disk.dir);
    const atFull = await newest();
    await world.until("it goes on", () => counted() > atFull + 200);
    rmSync(join(disk.dir, "filler"));
    const atRoom = counted();
    await world.until("its log goes on", async () => (await newest()) > atRoom);
    fillWithNothing(disk.dir);
    writeFileSync(stop, "");
    await world.until("it has ended", () => !hasProcess(stop));
    rmSync(join(disk.dir, "filler"));

    expect(await world.report("exited")).toMatchObject({ exitCode: 7 });
    const numbers = await logged();
    expect(numbers.filter((number, index) => !(number > (numbers[index - 1] ?? 0)))).toEqual([]);
    rmSync(elsewhere, { recursive: true });
  });

  test("finds its ports in its environment, and is reached at them by the pod's port", async () => {
    await using world = await ProcessWorld.open(SHARED);
    const ports = [{ name: "web", containerPort: 80, hostPort: undefined, protocol: "TCP" }] as const;
    world.start([process.execPath, "-e", SERVER.replace("8080", "+process.env.PORT_WEB")], { ports });
    await world.until("it listens", async () => (await world.log()) === "listening\n");

    const socket = await world.handler.portForward(UID, 80);

    socket.end("GET / HTTP/1.0\r\n\r\n");
    let answer = "";
    for await (const piece of socket) answer += String(piece);
    expect(answer).toContain("from ");
  });

  test("refuses volumes at absolute paths, and says what helps", async () => {
    await using world = await ProcessWorld.open(SHARED);
    const mount = {
      volume: "v",
      hostPath: world.machine.folder,
      containerPath: "/etc/config",
      readOnly: false,
    };

    world.start(["true"], { mounts: [{ ...mount, propagation: "None" }] });

    const { message } = await world.report("start-failed");
    expect(message).toMatch(/^cannot mount at \/etc\/config: .* run setpoint as root on Linux/);
  });
});
