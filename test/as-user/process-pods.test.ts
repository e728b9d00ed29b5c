/** Process pods of a normal user. This project has a worker for each file, which gives up the rights of root here. */
import { describe, expect, test } from "vitest";
import { namespacesHere, openMachine } from "../conformance/process-machine.ts";
import { runtimeHandlerSuite } from "../conformance/runtime-handler-suite.ts";
import { processNamespaceSuite } from "../scenarios/process-namespace-suite.ts";
import { processProgramSuite } from "../scenarios/process-program-suite.ts";
import { ProcessWorld } from "../scenarios/process-world.ts";
import { becomeNormalUser, NOBODY } from "./normal-user.ts";

const wasRoot = becomeNormalUser();
const isolation = await namespacesHere();
const skip = reasonToSkip();

function reasonToSkip(): string {
  if (!wasRoot) return "(the other suites run as a normal user already)";
  return isolation.type === "shared" ? `(needs namespaces: ${isolation.reason})` : "";
}

runtimeHandlerSuite({
  name: "process (namespaces of a normal user)",
  ...(skip !== "" && { skip }),
  open: () => openMachine(isolation),
});

describe.skipIf(skip !== "")(`a process pod of a normal user ${skip}`, () => {
  processProgramSuite(isolation);

  test("has the user and no rights of root", async () => {
    await using world = await ProcessWorld.open(isolation);

    const command = ["sh", "-c", "id -u; id -g; grep CapEff /proc/self/status"];
    const expected = `${String(NOBODY)}\n${String(NOBODY)}\nCapEff:\t${"0".repeat(16)}\n`;

    world.start([...command.slice(0, 2), `${String(command[2])}; exec sleep 1000`]);

    await world.until("it writes", async () => (await world.log()) === expected);
    expect((await world.exec(command)).output).toBe(expected);
  });

  test("has no other user", async () => {
    await using world = await ProcessWorld.open(isolation);

    world.start(["id"], { user: { uid: 1000, gid: undefined, supplementalGroups: [] } });

    expect((await world.report("start-failed")).message).toMatch(
      /^user 1000 and group 65534 are not permitted/,
    );
  });
});

describe.skipIf(skip !== "")(`the namespaces of a normal user's process pod ${skip}`, () => {
  processNamespaceSuite(isolation);
});
