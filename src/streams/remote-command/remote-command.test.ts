import { once } from "node:events";
import type { Duplex } from "node:stream";
import { describe, expect, test } from "vitest";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { received, upgradeServer } from "../upgrade-fixture.ts";
import { UpgradeRefused } from "../upgrade.ts";
import { acceptWebSocket } from "../websocket/accept-web-socket.ts";
import { channelStreams } from "./accept-command.ts";
import type { CommandResult } from "./command-result.ts";
import { acceptSession } from "./command-session.ts";
import type { CommandSession } from "./command-session.ts";
import { joinCommands } from "./join-commands.ts";
import { openSpdyCommand, openWebSocketCommand, remoteCommand } from "./open-command.ts";
import type { RemoteCommand } from "./open-command.ts";
import { WEBSOCKET_PROTOCOLS } from "./protocols.ts";
import type { CommandOptions } from "./protocols.ts";
import type { TerminalSize } from "./terminal-size.ts";

const loop = createRealLoop({ name: "test" });
const ALL: CommandOptions = { stdin: true, stdout: true, stderr: true, tty: false };
const TTY: CommandOptions = { stdin: true, stdout: true, stderr: false, tty: true };

type Run = (session: CommandSession) => Promise<void>;

function nodeServer(run: Run, options: CommandOptions, sockets: Duplex[] = []): () => Duplex {
  return upgradeServer((upgrade) => {
    sockets.push(upgrade.socket);
    void acceptSession({ upgrade, options, loop }).then((session) => session && run(session));
  });
}

interface Case {
  readonly protocol: string;
  readonly transport: "SPDY" | "WebSocket";
  readonly run: Run;
  readonly options?: CommandOptions;
}

async function connected({ protocol, transport, run, options = ALL }: Case): Promise<RemoteCommand> {
  const socket = nodeServer(run, options)();
  const open = transport === "SPDY" ? openSpdyCommand : openWebSocketCommand;
  const target = {
    path: "/exec",
    authority: "node",
    headers: {},
    options,
    protocols: protocolList(protocol),
    loop,
  };
  return remoteCommand(await open(socket, target));
}

function protocolList(name: string): readonly string[] {
  return name === "" ? [] : [name];
}

/** Sends stdin back on stdout, and says so on stderr. */
const echo: Run = async ({ stdin, stdout, stderr, finish }) => {
  stderr?.write("listening");
  if (stdin !== undefined && stdout !== undefined) await once(stdin.pipe(stdout), "finish");
  await finish({ type: "exited", code: 0 });
};

function failing(result: CommandResult): Run {
  return async ({ stdin, stdout, finish }) => {
    stdin?.resume();
    stdout?.write("some output");
    await finish(result);
  };
}

const SPDY = [
  "v5.channel.k8s.io",
  "v4.channel.k8s.io",
  "v3.channel.k8s.io",
  "v2.channel.k8s.io",
  "channel.k8s.io",
  "",
].map((protocol) => ({ transport: "SPDY" as const, protocol }));
const SOCKETS = WEBSOCKET_PROTOCOLS.map(({ name }) => ({ transport: "WebSocket" as const, protocol: name }));
const WITH_STATUS = /^v[45]/;

describe("a command", () => {
  test.each([...SPDY, ...SOCKETS.slice(0, 1)])(
    "over $transport $protocol gets 1 MiB of input to its end, and answers it",
    async ({ transport, protocol }) => {
      const command = await connected({ transport, protocol, run: echo });
      command.stdin?.end("x".repeat(1024 * 1024));

      const [out, errors] = await Promise.all(
        [command.stdout, command.stderr].map((each) => received(each as Duplex)),
      );

      expect([out?.length, errors]).toEqual([1024 * 1024, "listening"]);
      expect(await command.result).toEqual({ type: "exited", code: 0 });
    },
  );

  test.each([...SPDY, ...SOCKETS])(
    "over $transport $protocol reports its exit code, or that it failed",
    async ({ transport, protocol }) => {
      const command = await connected({ transport, protocol, run: failing({ type: "exited", code: 3 }) });

      expect(await received(command.stdout as Duplex)).toBe("some output");
      const message = "command terminated with non-zero exit code: exit status 3";
      expect(await command.result).toEqual(
        WITH_STATUS.test(protocol) ? { type: "exited", code: 3 } : { type: "failed", message },
      );
    },
  );

  test.each([...SPDY, ...SOCKETS])(
    "over $transport $protocol sees that its client has left",
    async ({ transport, protocol }) => {
      let noteStart: (session: CommandSession) => void = () => undefined;
      const started = new Promise<CommandSession>((resolve) => (noteStart = resolve));
      const command = await connected({ transport, protocol, run: async (session) => noteStart(session) });
      const { signal, stdin } = await started;
      stdin?.resume();
      const left = once(signal, "abort");
      command.close();

      await left;
    },
  );

  test.each([...SPDY.slice(0, 3), ...SOCKETS])(
    "over $transport $protocol gets sizes of the terminal",
    async ({ transport, protocol }) => {
      const run: Run = async ({ resizes, stdout, finish }) => {
        const [size] = (await once(resizes as Duplex, "data")) as [TerminalSize];
        stdout?.write(`${size.width}x${size.height}`);
        await finish({ type: "exited", code: 0 });
      };
      const command = await connected({ transport, protocol, run, options: TTY });
      command.resize({ width: 80, height: 24 });

      expect(await received(command.stdout as Duplex)).toBe("80x24");
      expect(command.stderr).toBeUndefined();
    },
  );

  test.each(["SPDY", "WebSocket"] as const)(
    "over %s in an unknown protocol is refused",
    async (transport) => {
      const socket = nodeServer(echo, ALL)();
      const open = transport === "SPDY" ? openSpdyCommand : openWebSocketCommand;
      const target = {
        path: "/",
        authority: "node",
        headers: {},
        options: ALL,
        protocols: ["v9.channel.k8s.io"],
        loop,
      };

      await expect(open(socket, target)).rejects.toThrow(
        "unable to upgrade connection: unable to upgrade: unable to negotiate protocol: client supports v9.channel.k8s.io",
      );
    },
  );

  test("a refusal keeps status and text", async () => {
    const socket = upgradeServer(({ socket: own }) =>
      own.end("HTTP/1.1 404 Not Found\r\n\r\nno container web"),
    )();
    const target = {
      path: "/",
      authority: "node",
      headers: {},
      options: ALL,
      protocols: ["v4.channel.k8s.io"],
      loop,
    };

    const error: unknown = await openSpdyCommand(socket, target).catch((cause: unknown) => cause);

    expect(error).toBeInstanceOf(UpgradeRefused);
    expect(error).toMatchObject({ status: 404, body: "no container web" });
  });
});

describe("a client that speaks v5 joined with a node over SPDY", () => {
  async function joined(run: Run, nodes: Duplex[] = []): Promise<RemoteCommand> {
    const options = ALL;
    const toNode = nodeServer(run, options, nodes);
    const protocol = WEBSOCKET_PROTOCOLS[0];
    if (protocol === undefined) throw new Error("expected a protocol");
    const common = { path: "/", authority: "node", headers: {}, options, loop };
    const proxy = upgradeServer((upgrade) => {
      const messages = acceptWebSocket(upgrade, protocol.name);
      if (messages === undefined) throw new Error("expected a WebSocket");
      const client = channelStreams(messages, options, protocol);
      void openSpdyCommand(toNode(), { ...common, protocols: ["v4.channel.k8s.io"] }).then((node) =>
        joinCommands(client, node),
      );
    });
    return remoteCommand(await openWebSocketCommand(proxy(), { ...common, protocols: [protocol.name] }));
  }

  test("can close stdin, and gets output and result", async () => {
    const command = await joined(echo);
    command.stdin?.end("hello");

    expect(await received(command.stdout as Duplex)).toBe("hello");
    expect(await command.result).toEqual({ type: "exited", code: 0 });
  });

  test("gets the exit code", async () => {
    const command = await joined(failing({ type: "exited", code: 42 }));
    command.stdout?.resume();

    expect(await command.result).toEqual({ type: "exited", code: 42 });
  });

  test("learns that the node was lost", async () => {
    const nodes: Duplex[] = [];
    const command = await joined(async ({ stdout }) => {
      stdout?.write("so far");
      for (const socket of nodes) socket.destroy();
    }, nodes);
    command.stdout?.resume();

    expect(await command.result).toEqual({
      type: "failed",
      message: "Internal error occurred: the connection to the node was lost",
    });
  });
});
