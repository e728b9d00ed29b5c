import type { Isolation } from "../../src/agent/process/isolation.ts";
import { namespacesHere, ProcessMachine, SHARED } from "./process-machine.ts";
import { runtimeHandlerSuite } from "./runtime-handler-suite.ts";

const namespaces = await namespacesHere();

runtimeHandlerSuite({
  name: "process (namespaces)",
  ...(namespaces.type === "shared" && { skip: `needs namespaces: ${namespaces.reason}` }),
  open: () => openMachine(namespaces),
});

runtimeHandlerSuite({
  name: "process (shared network)",
  ...(process.platform === "win32" && { skip: "process pods need a POSIX system" }),
  open: () => openMachine(SHARED),
});

async function openMachine(isolation: Isolation) {
  const machine = new ProcessMachine(isolation);
  return {
    time: machine.time,
    waitMs: 10,
    create: (listener: Parameters<ProcessMachine["create"]>[0]) => machine.create(listener),
    image: "none",
    folder: machine.folder,
    [Symbol.asyncDispose]: () => machine[Symbol.asyncDispose](),
  };
}
