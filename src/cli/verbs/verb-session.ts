/** A verb's connection to its cluster: the client, the namespace, and the resources that the server serves. */
import type { Loop } from "../../base/loop/loop.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import type { Client } from "../../client/client.ts";
import type { ServerDialer } from "../../client/http/server-socket.ts";
import { readServedResources, type ServedResource } from "../../client/served-resources.ts";
import type { Transport } from "../../client/transport.ts";
import type { Moment } from "../../insight/past/moment.ts";
import { revisionAt } from "../../insight/past/read-past.ts";
import { connectAs } from "../cluster-access.ts";
import { findText, type Arguments, type Io } from "../command.ts";
import { findMoment } from "../past-options.ts";

export interface VerbSession {
  readonly io: Io;
  readonly args: Arguments;
  readonly loop: Loop;
  readonly client: Client;
  readonly transport: Transport;
  readonly dialer: ServerDialer;
  /** Namespace of the arguments or of the context; undefined with `--all-namespaces`. */
  readonly namespace: string | undefined;
  readonly served: readonly ServedResource[];
  /** Prints a warning on stderr, each text once. */
  readonly warn: (text: string) => void;
  /** Revision that reads show, with `--at`; undefined for the newest state. */
  readonly revision: string | undefined;
}

/** Runs `work` on a connection, which is closed at the end. An aborted signal of `io` aborts its requests. */
export async function withSession(
  io: Io,
  args: Arguments,
  work: (session: VerbSession) => Promise<void>,
): Promise<void> {
  const loop = createRealLoop({ name: "cli" });
  const warn = warningPrinter(io);
  const connection = await connectAs(io, args, { loop, onWarning: warn });
  try {
    const client = connection.client.with({ signal: io.signal });
    const namespace = findText(args, "namespace") ?? connection.namespace;
    await work({
      io,
      args,
      loop,
      client,
      transport: connection.transport,
      dialer: connection.dialer,
      namespace: args.options["allNamespaces"] === true ? undefined : namespace,
      warn,
      served: await readServedResources(client),
      revision: await findRevision(client, findMoment(args, "at", loop.now())),
    });
  } finally {
    await connection.close();
  }
}

function warningPrinter(io: Io): (text: string) => void {
  const printed = new Set<string>();
  return (text) => {
    if (!printed.has(text)) io.stderr(`Warning: ${text}\n`);
    printed.add(text);
  };
}

async function findRevision(client: Client, moment: Moment | undefined): Promise<string | undefined> {
  return moment === undefined ? undefined : String(await revisionAt(client, moment));
}
