/** Stands in for the server of a pod: listens beside the cluster on a non-loopback address that proxies may dial. */
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { onTestFinished } from "vitest";

/** Non-loopback address of this machine; undefined on a machine without network. */
export const OWN_ADDRESS = Object.values(networkInterfaces())
  .flatMap((each) => each ?? [])
  .find(({ internal, family }) => !internal && family === "IPv4")?.address;

/** Serves until the test is over. Returns the port. */
export async function serveBeside(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, "0.0.0.0");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => server.once("listening", resolve));
  return (server.address() as AddressInfo).port;
}
