/** `setpoint port-forward`: local ports that lead to a pod's. */
import { Service } from "../../api/generated/types/core-v1.ts";
import { errorText } from "../../base/error-text.ts";
import type { PortForward } from "../../streams/port-forward/open-port-forward.ts";
import { findText, UsageError, type Command, type Io } from "../command.ts";
import { parsePort, type ForwardedPort } from "./forwarded-ports.ts";
import { listenOn, type LocalPort } from "./local-port.ts";
import { openPodPorts } from "./open-streams.ts";
import { objectNamed, podTimeoutOption, readiestPod } from "./pods-named.ts";
import { verbOptions } from "./verb-options.ts";
import { withSession, type VerbSession } from "./verb-session.ts";

/** Addresses that `localhost` stands for. One of them is enough: a machine may have no IPv6. */
const LOCALHOST = ["127.0.0.1", "::1"];

export const portForwardCommand: Command = {
  name: "port-forward",
  isKubectlVerb: true,
  usage: ["object", "[ports...]"],
  help: "forward local ports to POD or TYPE/NAME: [LOCAL:]REMOTE",
  options: [
    { flags: "--address <addresses>", help: "local addresses, with commas", fallback: "localhost" },
    podTimeoutOption,
    ...verbOptions,
  ],
  async run(io, args) {
    if (args.rest.length === 0) throw new UsageError("say which ports: [LOCAL:]REMOTE, for example 8080:80");
    return withSession(io, args, portForward);
  },
};

async function portForward(session: VerbSession): Promise<void> {
  const { io, args } = session;
  const object = args.operands["object"] ?? "";
  const service = await serviceNamed(session, object);
  const pod = await readiestPod(session, object);
  const ports = args.rest.map((text) => parsePort(text, pod, service));
  const { phase = "Pending" } = pod.status ?? {};
  if (phase !== "Running")
    throw new Error(`unable to forward port because pod is not running. Current status=${phase}`);
  const addresses = (findText(args, "address") ?? "localhost").split(",");
  const forward = await openPodPorts(session, pod);
  try {
    const opened = await openLocalPorts(session, forward, { ports, addresses });
    try {
      await Promise.race([forward.closed, untilAborted(io.signal)]);
    } finally {
      for (const each of opened) each.close();
    }
  } finally {
    forward.close();
  }
  if (!io.signal.aborted) throw new Error("lost connection to pod");
}

async function serviceNamed(session: VerbSession, text: string): Promise<Service | undefined> {
  const { resource, name } = objectNamed(session, text);
  if (resource.kind !== Service.kind) return undefined;
  return session.client(Service).get({ namespace: session.namespace ?? "default", name });
}

interface Wanted {
  readonly ports: readonly ForwardedPort[];
  readonly addresses: readonly string[];
}

/** Listens on every port that it can. Rejects when there is none. */
async function openLocalPorts(
  session: VerbSession,
  forward: PortForward,
  { ports, addresses }: Wanted,
): Promise<readonly LocalPort[]> {
  const { io } = session;
  const opened: LocalPort[] = [];
  for (const { local, remote } of ports) {
    let port = local;
    const failures: string[] = [];
    const before = opened.length;
    for (const address of addresses.flatMap((each) => (each === "localhost" ? LOCALHOST : [each])))
      try {
        const serve = { address, port, connect: () => connect(io, forward, { local: port, remote }) };
        const listening = await listenOn(session.loop, serve);
        opened.push(listening);
        // All addresses get the same port.
        port = listening.port;
        const host = address.includes(":") ? `[${address}]` : address;
        io.stdout(`Forwarding from ${host}:${port} -> ${remote}\n`);
      } catch (error) {
        failures.push(errorText(error));
      }
    if (opened.length === before) io.stderr(`Unable to listen on port ${local}: ${failures.join("; ")}\n`);
  }
  if (opened.length > 0) return opened;
  const asked = ports.map(({ local, remote }) => `${local}:${remote}`).join(", ");
  throw new Error(
    `unable to listen on any of the requested ports (${asked}): choose others, or :REMOTE for a free one`,
  );
}

function connect(io: Io, forward: PortForward, { local, remote }: ForwardedPort) {
  io.stdout(`Handling connection for ${local}\n`);
  const connection = forward.connect(remote);
  void connection.error.then((text) => {
    if (text !== "" && !io.signal.aborted)
      io.stderr(`an error occurred forwarding ${local} -> ${remote}: ${text}\n`);
  });
  return connection.stream;
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
