/** Connects to a port of a process pod. */
import { spawn } from "node:child_process";
import { createConnection } from "node:net";
import { Duplex } from "node:stream";
import type { ProcessHost } from "./process-host.ts";
import type { ProcessPod } from "./process-pod.ts";

/** Runs in the pod's network: a program may listen on its loopback address only. */
const RELAY =
  'const s=require("net").connect(+process.argv[1],"127.0.0.1");s.on("error",e=>{process.stderr.write(e.message);process.exit(1)});' +
  's.on("connect",()=>process.stderr.write("open"));process.stdin.pipe(s).pipe(process.stdout)';

/** Rejects with a message for the client. */
export async function connectToPod(host: ProcessHost, pod: ProcessPod, port: number): Promise<Duplex> {
  try {
    return await dialPod(host, pod, port);
  } catch (error) {
    const holder = pod.hasNetwork && isRefused(error) ? host.holders.find(pod.folder) : undefined;
    if (holder === undefined) throw error;
    return relay([...host.enterWords(holder.pid, ["--net"]), process.execPath, "-e", RELAY, String(port)]);
  }
}

/** Connects to the pod's address; on a shared network to the port that the pod got there. */
export async function dialPod(host: ProcessHost, pod: ProcessPod, port: number): Promise<Duplex> {
  const [address = "127.0.0.1"] = pod.hasNetwork ? pod.record.addresses : ["127.0.0.1"];
  const node = pod.hasNetwork && host.owner === "user" ? host.network.findNode() : undefined;
  if (node !== undefined) return host.dialer.dial(node, address, port);
  return connect(address, pod.ports.get(port) ?? port);
}

function connect(address: string, port: number): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: address, port, allowHalfOpen: true });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}

function isRefused(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ECONNREFUSED";
}

/** Rejects with the words of the program that could not connect. */
function relay([program = "", ...args]: readonly string[]): Promise<Duplex> {
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], cwd: "/" });
  let said = "";
  return new Promise((resolve, reject) => {
    child.stderr.on("data", (chunk) => {
      said += String(chunk);
      if (said !== "open") return;
      const stream = Duplex.from({ readable: child.stdout, writable: child.stdin });
      stream.once("close", () => child.kill("SIGKILL"));
      resolve(stream);
    });
    child.once("error", reject);
    child.once("close", () => reject(new Error(said || "the relay ended")));
  });
}
