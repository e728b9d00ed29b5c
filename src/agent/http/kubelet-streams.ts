/** Answers the requests of the kubelet's HTTP API that switch protocols: exec, attach and port-forward. */
import type { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Pod } from "../../api/generated/types/core-v1.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { acceptPortForward } from "../../streams/port-forward/accept-port-forward.ts";
import type { CommandResult } from "../../streams/remote-command/command-result.ts";
import { acceptSession, type CommandSession } from "../../streams/remote-command/command-session.ts";
import type { TerminalSize } from "../../streams/remote-command/terminal-size.ts";
import { refuseUpgrade, type UpgradeRequest } from "../../streams/upgrade.ts";
import type { AttachRequest, SessionEnd, StreamSession } from "../runtime-handler.ts";
import { textReply, type KubeletReply } from "./kubelet-reply.ts";
import type { KubeletRoute } from "./kubelet-route.ts";
import { findContainer, findPod, type ServedNode, type ServedRuntime } from "./served-node.ts";

type StreamRoute = Exclude<KubeletRoute, { readonly type: "page" | "logs" }>;

export interface StreamCall {
  readonly node: ServedNode;
  readonly route: StreamRoute;
  readonly query: URLSearchParams;
  readonly upgrade: UpgradeRequest;
}

/** Resolves when the stream has ended and the client has its result, or was refused. */
export async function serveStream(call: StreamCall, loop: Loop): Promise<void> {
  const { node, route, upgrade } = call;
  const found = findRuntime(node, route);
  if ("refusal" in found) return refuse(upgrade, found.refusal);
  if (route.type === "port-forward") return forwardPorts(call, found, loop);
  return runCommand(call, found, loop);
}

export function refuse(upgrade: UpgradeRequest, { status, body }: KubeletReply): void {
  refuseUpgrade(upgrade, status, typeof body === "string" ? body : "");
}

interface FoundPod {
  readonly pod: Pod;
  readonly runtime: ServedRuntime;
}

function findRuntime(
  node: ServedNode,
  { type, place }: StreamRoute,
): FoundPod | { readonly refusal: KubeletReply } {
  const pod = findPod(node, place);
  const runtime = pod && node.findRuntime(pod);
  if (pod === undefined || runtime === undefined) return { refusal: textReply(404, "pod does not exist") };
  if (type !== "port-forward" && findContainer(pod, place.container) === undefined)
    return { refusal: textReply(404, `container not found ("${place.container}")`) };
  return { pod, runtime };
}

async function forwardPorts(
  { query, upgrade }: StreamCall,
  { pod, runtime }: FoundPod,
  loop: Loop,
): Promise<void> {
  const connect = (port: number): ReturnType<ServedRuntime["portForward"]> =>
    runtime.portForward(pod.metadata.uid, port);
  await acceptPortForward({ upgrade, query, loop, connect });
}

async function runCommand(
  { route, query, upgrade }: StreamCall,
  { pod, runtime }: FoundPod,
  loop: Loop,
): Promise<void> {
  const options = commandOptions(query);
  if (!options.stdin && !options.stdout && !options.stderr)
    return refuse(upgrade, textReply(400, "you must specify at least 1 of stdin, stdout, stderr"));
  const command = query.getAll("command");
  if (route.type === "exec" && command.length === 0)
    return refuse(upgrade, textReply(400, "you must specify a command"));
  const session = await acceptSession({ upgrade, options, loop });
  if (session === undefined) return undefined;
  const container = {
    uid: pod.metadata.uid,
    container: "container" in route.place ? route.place.container : "",
  };
  const program =
    route.type === "exec"
      ? runtime.exec(container, { ...options, command })
      : runtime.attach(container, options);
  return session.finish(resultOf(await connected(session, program)));
}

/** The kubelet's names of the parameters. A terminal has one output. */
function commandOptions(query: URLSearchParams): AttachRequest {
  const isOn = (name: string): boolean => /^(?:1|t|true)$/i.test(query.get(name) ?? "");
  const tty = isOn("tty");
  return { stdin: isOn("input"), stdout: isOn("output"), stderr: isOn("error") && !tty, tty };
}

/** Joins the client with the program until the program ends. A client that leaves closes the program's session. */
async function connected(session: CommandSession, program: StreamSession): Promise<SessionEnd> {
  const leave = (): void => program.close();
  session.signal.addEventListener("abort", leave, { once: true });
  if (session.signal.aborted) leave();
  session.resizes?.on("data", ({ width, height }: TerminalSize) =>
    program.resize({ columns: width, rows: height }),
  );
  void passed(session.stdin, program.stdin, true);
  const outputs = [
    passed(program.stdout, session.stdout, false),
    passed(program.stderr, session.stderr, false),
  ];
  const end = await program.ended;
  await Promise.all(outputs);
  session.signal.removeEventListener("abort", leave);
  return end;
}

/** A broken stream ends the copy: the other streams and the result tell the rest. */
async function passed(from: Readable | undefined, to: Writable | undefined, endsTo: boolean): Promise<void> {
  if (from === undefined) return undefined;
  if (to === undefined) {
    from.resume();
    return undefined;
  }
  return pipeline(from, to, { end: endsTo }).catch(() => undefined);
}

function resultOf(end: SessionEnd): CommandResult {
  return end.type === "exited" ? { type: "exited", code: end.exitCode } : end;
}
