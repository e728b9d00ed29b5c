/**
 * A real etcd server that belongs to the test: free loopback ports and a temporary folder that is removed with the test. Stopping, killing,
 * pausing and starting it again keeps folder and ports, so that clients see the same server come back.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { findPeer } from "./find-peer.ts";

/** Enough for a machine under full load; a server that cannot start is noticed. */
const READY_MS = 20_000;
/** Time after SIGTERM before the server is killed. */
const STOP_MS = 5_000;
const LOG_LINES = 200;

export interface EtcdServerOptions {
  /** Serves TLS only and requires a client certificate of the test's CA. */
  readonly tls?: boolean;
  readonly flags?: readonly string[];
  /** Syncs to disk as a production server does; tests are faster without. */
  readonly durable?: boolean;
}

export interface EtcdCertificates {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

export class EtcdServer implements AsyncDisposable {
  readonly endpoint: string;
  /** Client certificates; undefined without TLS. */
  readonly certificates: EtcdCertificates | undefined;
  readonly #folder: string;
  readonly #arguments: readonly string[];
  readonly #log: string[] = [];
  #child: ChildProcess | undefined;
  /** Ends the server if this process cannot. */
  #warden: ChildProcess | undefined;

  private constructor(folder: string, ports: readonly [number, number], options: EtcdServerOptions) {
    const scheme = options.tls === true ? "https" : "http";
    this.#folder = folder;
    this.endpoint = `${scheme}://127.0.0.1:${String(ports[0])}`;
    this.certificates = options.tls === true ? makeCertificates(folder) : undefined;
    this.#arguments = [
      ...["--data-dir", join(folder, "data"), "--name", "test"],
      ...["--listen-client-urls", this.endpoint, "--advertise-client-urls", this.endpoint],
      ...["--listen-peer-urls", `http://127.0.0.1:${String(ports[1])}`],
      ...["--initial-advertise-peer-urls", `http://127.0.0.1:${String(ports[1])}`],
      ...["--initial-cluster", `test=http://127.0.0.1:${String(ports[1])}`],
      // A single member needs no long timeouts, and its shortest lease is 1.5 election timeouts.
      ...["--heartbeat-interval", "20", "--election-timeout", "200"],
      ...["--logger", "zap", "--log-outputs", "stderr", "--log-level", "warn"],
      ...(options.tls === true ? tlsFlags(folder) : []),
      ...(options.durable === true ? [] : noSyncFlags()),
      ...(options.flags ?? []),
    ];
  }

  /** Resolves once the server answers. */
  static async start(options: EtcdServerOptions = {}): Promise<EtcdServer> {
    const folder = mkdtempSync(join(tmpdir(), "setpoint-etcd-"));
    const server = new EtcdServer(folder, [await freePort(), await freePort()], options);
    try {
      await server.start();
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
    return server;
  }

  /** Starts it again after `stop` or `kill`. */
  async start(): Promise<void> {
    const child = spawn(etcdPath(), this.#arguments, { stdio: ["ignore", "ignore", "pipe"] });
    this.#child = child;
    this.#warden = watchOver(child.pid, this.#folder);
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#log.push(text);
      if (this.#log.length > LOG_LINES) this.#log.shift();
    });
    const giveUp = Date.now() + READY_MS;
    while (!(await this.#isReady())) {
      if (child.exitCode !== null || Date.now() > giveUp) {
        throw new Error(`etcd did not become ready:\n${this.#log.join("")}`);
      }
      await delay(20);
    }
  }

  async stop(): Promise<void> {
    await this.#end("SIGTERM");
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Call while it is stopped: it comes back as a new, empty cluster. */
  wipe(): void {
    rmSync(join(this.#folder, "data"), { recursive: true, force: true });
  }

  /** Call while it is stopped: copies its data for `goBack`. */
  keepData(): void {
    cpSync(join(this.#folder, "data"), join(this.#folder, "kept"), { recursive: true });
  }

  /** Call while it is stopped: it comes back with the copied data. */
  goBack(): void {
    this.wipe();
    cpSync(join(this.#folder, "kept"), join(this.#folder, "data"), { recursive: true });
  }

  /** Keeps its connections open and answers nothing, like a machine that vanished. Resolves once it is stopped. */
  async pause(): Promise<void> {
    this.#child?.kill("SIGSTOP");
    const giveUp = Date.now() + STOP_MS;
    while (!isStopped(this.#child?.pid)) {
      if (Date.now() > giveUp) throw new Error("etcd does not stop");
      await delay(1);
    }
  }

  resume(): void {
    this.#child?.kill("SIGCONT");
  }

  /** Calls etcd's JSON gateway for requests that the store never makes: users, roles, leases, foreign keys. */
  async call(path: string, body: object, token?: string): Promise<Record<string, unknown>> {
    const { status, text } = await this.#post(path, JSON.stringify(body), token);
    if (status !== 200) throw new Error(`etcd ${path}: ${String(status)} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  }

  /** Creates root with password `root`, and users with one role each that allows everything under its prefix. */
  async enableAuth(users: readonly { name: string; password: string; prefix: string }[]): Promise<void> {
    await this.call("/v3/auth/user/add", { name: "root", password: "root" });
    await this.call("/v3/auth/role/add", { name: "root" });
    await this.call("/v3/auth/user/grant", { user: "root", role: "root" });
    for (const { name, password, prefix } of users) {
      const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
      const perm = { permType: "READWRITE", key: base64(prefix), range_end: base64(end) };
      await this.call("/v3/auth/user/add", { name, password });
      await this.call("/v3/auth/role/add", { name });
      await this.call("/v3/auth/role/grant", { name, perm });
      await this.call("/v3/auth/user/grant", { user: name, role: name });
    }
    await this.call("/v3/auth/enable", {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #end(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    this.#warden?.kill("SIGKILL");
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    // A stopped process handles SIGTERM only after SIGCONT.
    if (signal === "SIGTERM") child.kill("SIGCONT");
    const stop = new AbortController();
    const late = delay(STOP_MS, undefined, { signal: stop.signal }).then(
      () => child.kill("SIGKILL"),
      () => undefined,
    );
    await exited;
    stop.abort();
    await late;
  }

  async #isReady(): Promise<boolean> {
    try {
      // A linearizable read needs a leader. With users it is refused, which also takes a working server.
      const { status, text } = await this.#post("/v3/kv/range", JSON.stringify({ key: base64("ready") }));
      return status === 200 || text.includes("user name is empty");
    } catch {
      return false;
    }
  }

  async #post(path: string, body: string, token?: string): Promise<{ status: number; text: string }> {
    const { ca, cert, key } = this.certificates ?? {};
    const headers = {
      "content-type": "application/json",
      ...(token !== undefined && { authorization: token }),
    };
    const options = { method: "POST", headers, agent: false as const, timeout: 5_000 };
    const url = new URL(path, this.endpoint);
    const request =
      ca === undefined ? httpRequest(url, options) : httpsRequest(url, { ...options, ca, cert, key });
    request.on("timeout", () => request.destroy(new Error(`no answer from etcd to ${path}`)));
    request.end(body);
    const [response] = (await once(request, "response")) as [IncomingMessage];
    let text = "";
    for await (const chunk of response.setEncoding("utf8")) text += String(chunk);
    return { status: response.statusCode ?? 0, text };
  }
}

export function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function etcdPath(): string {
  const peer = findPeer("etcd");
  if (peer.state !== "available") throw new Error(peer.message);
  return peer.path;
}

function noSyncFlags(): string[] {
  try {
    execFileSync(etcdPath(), ["--unsafe-no-fsync", "--version"], { stdio: "ignore" });
    return ["--unsafe-no-fsync"];
  } catch {
    return [];
  }
}

/** The signal stops each thread separately. Without /proc it is assumed to be quick. */
function isStopped(pid: number | undefined): boolean {
  const threads = `/proc/${String(pid)}/task`;
  if (!existsSync(threads)) return true;
  return readdirSync(threads).every((thread) =>
    /\) [Tt] /.test(readFileSync(join(threads, thread, "stat"), "utf8")),
  );
}

/** A killed process cannot clean up, but its pipes close: the watcher then ends the server. */
function watchOver(pid: number | undefined, folder: string): ChildProcess {
  const script = 'read -r _; kill -9 "$1"; rm -rf "$2"';
  const warden = spawn("sh", ["-c", script, "sh", String(pid), folder], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  warden.unref();
  return warden;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function tlsFlags(folder: string): string[] {
  return [
    ...["--cert-file", join(folder, "server.crt"), "--key-file", join(folder, "server.key")],
    ...["--trusted-ca-file", join(folder, "ca.crt"), "--client-cert-auth"],
  ];
}

/** A CA, and certificates signed by it for the server (127.0.0.1) and for one client. */
function makeCertificates(folder: string): EtcdCertificates {
  const openssl = (...args: string[]): void => {
    execFileSync("openssl", args, { cwd: folder, stdio: ["ignore", "ignore", "ignore"] });
  };
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const authority = ["-x509", "-days", "2", "-subj", "/CN=test-ca", "-keyout", "ca.key", "-out", "ca.crt"];
  openssl("req", ...newKey, ...authority);
  for (const name of ["server", "client"]) {
    const usage = "extendedKeyUsage=serverAuth,clientAuth";
    const names = [
      "-subj",
      `/CN=${name}`,
      "-addext",
      "subjectAltName=IP:127.0.0.1,DNS:localhost",
      "-addext",
      usage,
    ];
    openssl("req", ...newKey, ...names, "-keyout", `${name}.key`, "-out", `${name}.csr`);
    const signer = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-copy_extensions", "copy"];
    openssl("x509", "-req", "-in", `${name}.csr`, "-days", "2", ...signer, "-out", `${name}.crt`);
  }
  const read = (name: string): Buffer => readFileSync(join(folder, name));
  return { ca: read("ca.crt"), cert: read("client.crt"), key: read("client.key") };
}
