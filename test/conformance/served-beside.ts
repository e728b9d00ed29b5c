/** What pods would serve: a server beside the cluster, on an address of this machine that proxies may dial. */
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { onTestFinished } from "vitest";

/** An address of this machine that is not its loopback; a machine without network has none. */
export const OWN_ADDRESS = Object.values(networkInterfaces())
  .flatMap((each) => each ?? [])
  .find(({ internal, family }) => !internal && family === "IPv4")?.address;

/** Until the test is over. Answers with the port. */
export async function serveBeside(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, "0.0.0.0");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => server.once("listening", resolve));
  return (server.address() as AddressInfo).port;
}
