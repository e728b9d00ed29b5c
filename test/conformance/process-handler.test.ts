import { namespacesHere, openMachine, SHARED } from "./process-machine.ts";
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
