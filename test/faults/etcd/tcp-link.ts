/** A TCP proxy between a client and a server that a test can cut, silence or slow down. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** `deaf`: the server's responses are lost, requests arrive. `cut`: no connection works. */
type LinkState = "open" | "deaf" | "cut";

export class TcpLink implements AsyncDisposable {
  readonly endpoint: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #state: LinkState = "open";
  #lagMs = 0;
  #accepted = 0;

  private constructor(server: Server, to: URL) {
    this.#server = server;
    this.endpoint = `${to.protocol}//127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    server.on("connection", (client) => this.#join(client, to));
  }

  static async open(to: string): Promise<TcpLink> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new TcpLink(server, new URL(to));
  }

  /** Number of connections opened through it. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Drops the server's responses from now on; connections stay open. */
  deafen(): void {
    this.#state = "deaf";
  }

  /** Delays the server's responses by this much, in order. */
  lag(ms: number): void {
    this.#lagMs = ms;
  }

  /** Breaks all connections and refuses new ones. */
  cut(): void {
    this.#state = "cut";
    this.#breakAll();
  }

  /** Lets new connections through again. */
  mend(): void {
    this.#state = "open";
    this.#breakAll();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#breakAll();
    const closed = once(this.#server, "close");
    this.#server.close();
    await closed;
  }

  #join(client: Socket, to: URL): void {
    if (this.#state === "cut") {
      client.destroy();
      return;
    }
    this.#accepted += 1;
    const server = connect(Number(to.port), to.hostname);
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on("error", () => undefined);
    }
    client.on("data", (bytes) => server.write(bytes));
    let before = Promise.resolve();
    server.on("data", (bytes) => {
      const arrival = this.#lagMs === 0 ? before : Promise.all([before, delay(this.#lagMs)]);
      before = arrival.then(() => {
        if (this.#state === "open" && !client.destroyed) client.write(bytes);
      });
    });
    client.on("close", () => this.#forget(client, server));
    server.on("close", () => this.#forget(client, server));
  }

  #forget(...pair: Socket[]): void {
    for (const socket of pair) {
      socket.destroy();
      this.#sockets.delete(socket);
    }
  }

  #breakAll(): void {
    this.#forget(...this.#sockets);
  }
}
