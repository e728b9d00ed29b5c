/** A port of this machine whose connections are joined with streams. */
import { createServer, type AddressInfo, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Loop } from "../../base/loop/loop.ts";

/** Connections beside each other. Node closes further ones at once. */
const CONNECTIONS_MAX = 1000;

export interface LocalPortOptions {
  readonly address: string;
  /** 0 lets the operating system pick a free port. */
  readonly port: number;
  /** Stream of a new connection. */
  readonly connect: () => Duplex;
}

export interface LocalPort {
  readonly port: number;
  /** Takes no further connections, and cuts the open ones. */
  close(): void;
}

/** Rejects when the port cannot be had. */
export async function listenOn(loop: Loop, { address, port, connect }: LocalPortOptions): Promise<LocalPort> {
  const open = new Set<Socket>();
  // Each direction ends on its own.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    void join(socket, connect());
  });
  server.maxConnections = CONNECTIONS_MAX;
  const listening = new Promise<AddressInfo>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: address, port }, () => resolve(server.address() as AddressInfo));
  });
  const bound = await loop.outside("listen", listening);
  // A connection that could not be accepted concerns its client only.
  server.on("error", () => undefined);
  return {
    port: bound.port,
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

async function join(socket: Socket, stream: Duplex): Promise<void> {
  const directions = [pipeline(socket, stream), pipeline(stream, socket)];
  await Promise.all(directions.map((each) => each.catch(() => undefined)));
  socket.destroy();
}
