import { once } from "node:events";
import { createServer } from "node:net";
import type { Loop } from "../base/loop/loop.ts";
import type { ListenAddress } from "./options.ts";

/** Rejects with the error of `listen` when the address is in use or not of this machine. */
export async function requireFreeAddress({ host, port }: ListenAddress, loop: Loop): Promise<void> {
  const server = createServer();
  await loop.outside("listen", once(server.listen(port, host), "listening"));
  await loop.outside("listen", once(server.close(), "close"));
}
