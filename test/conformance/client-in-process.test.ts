import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { inProcessTransport } from "../../src/cluster/control-plane/in-process-transport.ts";
import { clientSuite } from "./client-suite.ts";

const loop = createRealLoop({ name: "test" });
const user = { user: "admin", groups: ["system:masters"] };

clientSuite("within the process", async ({ handler }) =>
  inProcessTransport({ handler, loop: loop.child("client"), serverLoop: loop.child("server"), user }),
);
