import { objectPath } from "../../api/api-object.ts";
/** Streams to a pod through the API server: a command in a container, or its ports. */
import { Pod } from "../../api/generated/types/core-v1.ts";
import type { ServerSocket } from "../../client/http/server-socket.ts";
import { errorFromResponse } from "../../client/response-error.ts";
import { openPortForward, type PortForward } from "../../streams/port-forward/open-port-forward.ts";
import {
  openSpdyCommand,
  openWebSocketCommand,
  remoteCommand,
  type RemoteCommand,
} from "../../streams/remote-command/open-command.ts";
import type { CommandOptions } from "../../streams/remote-command/protocols.ts";
import { UpgradeRefused } from "../../streams/upgrade.ts";
import type { VerbSession } from "./verb-session.ts";

/** The protocol in which a client can close stdin of a WebSocket. */
const WEBSOCKET_PROTOCOLS = ["v5.channel.k8s.io"];
const SPDY_PROTOCOLS = ["v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io"];

export interface PodCommand {
  readonly container: string;
  readonly command: readonly string[];
  readonly options: CommandOptions;
}

/** Starts the command: over a WebSocket, or over SPDY where the node knows only that. */
export async function openPodCommand(
  session: VerbSession,
  pod: Pod,
  { container, command, options }: PodCommand,
): Promise<RemoteCommand> {
  const query = new URLSearchParams([["container", container]]);
  for (const word of command) query.append("command", word);
  for (const name of ["stdin", "stdout", "stderr", "tty"] as const)
    if (options[name]) query.append(name, "true");
  const open = async (
    connect: typeof openSpdyCommand,
    protocols: readonly string[],
  ): Promise<RemoteCommand> => {
    const { socket, ...dialed } = await session.dialer.dial(session.io.signal);
    const path = pathOf(dialed, pod, `exec?${query.toString()}`);
    return remoteCommand(await connect(socket, { ...dialed, path, options, protocols, loop: session.loop }));
  };
  try {
    return await open(openWebSocketCommand, WEBSOCKET_PROTOCOLS);
  } catch (error) {
    if (!(error instanceof UpgradeRefused)) throw error;
    // A Status is the API server's own answer: another protocol would not change it.
    if (statusIn(error.body) !== undefined) throw apiError(error);
  }
  return open(openSpdyCommand, SPDY_PROTOCOLS).catch((error: unknown) => {
    throw apiError(error);
  });
}

export async function openPodPorts(session: VerbSession, pod: Pod): Promise<PortForward> {
  const { socket, ...dialed } = await session.dialer.dial(session.io.signal);
  const target = { ...dialed, path: pathOf(dialed, pod, "portforward"), loop: session.loop };
  return openPortForward(socket, target).catch((error: unknown) => {
    throw apiError(error);
  });
}

function pathOf({ pathPrefix }: Pick<ServerSocket, "pathPrefix">, pod: Pod, rest: string): string {
  const { namespace = "", name } = pod.metadata;
  return `${pathPrefix}${objectPath(Pod, { namespace, name })}/${rest}`;
}

/** The error that a server's refusal carries. */
function apiError(error: unknown): unknown {
  if (!(error instanceof UpgradeRefused)) return error;
  return errorFromResponse({ code: error.status, value: statusIn(error.body) ?? error.message });
}

function statusIn(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}
