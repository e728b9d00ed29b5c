import { createRealLoop } from "../../src/base/loop/real/real-loop.ts";
import { httpTransport } from "../../src/client/http-transport.ts";
import { startServer } from "../../src/server/transport/fixture.ts";
import { clientSuite } from "./client-suite.ts";

const loop = createRealLoop({ name: "test" });

clientSuite("over HTTPS", async ({ handler }) => {
  const { listener, pki } = await startServer(handler);
  return httpTransport({
    loop,
    server: `https://127.0.0.1:${String(listener.port)}`,
    ca: { text: pki.ca.cert },
    user: { certificate: { text: pki.admin.cert }, key: { text: pki.admin.key } },
  });
});
