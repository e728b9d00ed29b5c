/** Runs an API server and its loops in one process, over a store that is already open. */
import type { ApiObject, ResourceType } from "../../api/api-object.ts";
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { createClient } from "../../client/api-client.ts";
import type { Client } from "../../client/client.ts";
import { CacheSet } from "../../runtime/cache/cache-set.ts";
import type { PassRecord } from "../../runtime/controller/pass-result.ts";
import { runAll } from "../../runtime/manager/run-all.ts";
import type { ServerOptions } from "../../server/options.ts";
import type { HttpHandler, PeerIdentity } from "../../server/request/http.ts";
import { createApiServer } from "../../server/server.ts";
import type { ApiServer } from "../../server/server.ts";
import type { Surroundings } from "../../server/surroundings.ts";
import type { ServerAddress } from "../../server/upkeep/create-upkeep.ts";
import { actorIdentity, groupIdentity } from "../loops/loop-identities.ts";
import { isEmptyGroup, manage } from "../loops/loops.ts";
import type { LoopGroup } from "../loops/loops.ts";
import { abortableTransport } from "./abortable-transport.ts";
import { inProcessTransport } from "./in-process-transport.ts";
import type { InProcessTransport } from "./in-process-transport.ts";

export interface ControlPlaneOptions {
  readonly surroundings: Surroundings;
  readonly server: ServerOptions;
  /** Whether values handed out in the process are frozen. */
  readonly freezes: boolean;
}

/** How a program's loops run. */
interface ProgramRun {
  /** Loop of the program. */
  readonly loop: Loop;
  /** Aborts to stop the loops. */
  readonly signal: AbortSignal;
  /** Aborts to cut the loops off from the server. */
  readonly cut: AbortSignal;
  /** Called after each pass of a controller. */
  readonly onPass?: (pass: PassRecord) => void;
}

/** Loops of a program that runs. */
export interface ProgramLoops {
  /** Resolves when all loops have ended. */
  readonly ended: Promise<void>;
  /** Reason why the loops cannot go on. */
  health(): string | undefined;
}

/** How the built-in groups run. */
interface BuiltInRun {
  /** Identity of this instance in leader elections; default: random. */
  readonly identity?: string | undefined;
  /** Log of a group; default: the server's. */
  readonly logOf?: (group: string) => Log;
  /** Called after each pass of a controller. */
  readonly onPass?: ((pass: PassRecord) => void) | undefined;
}

/** Identity of the loops that a program adds: they have all rights. */
const PROGRAM: PeerIdentity = { user: "kubernetes-admin", groups: ["system:masters"] };

export class ControlPlane {
  readonly #options: ControlPlaneOptions;
  readonly #server: ApiServer;
  readonly #serverLoop: Loop;

  constructor(options: ControlPlaneOptions) {
    const { surroundings, server } = options;
    this.#options = options;
    this.#serverLoop = surroundings.loop.child("server");
    this.#server = createApiServer({ ...surroundings, loop: this.#serverLoop }, server);
  }

  get handler(): HttpHandler {
    return this.#server.handler;
  }

  /** Transport for a client in this process. Responses arrive as steps of the client's loop. */
  transport(user: PeerIdentity, loop: Loop): InProcessTransport {
    const { freezes } = this.#options;
    return inProcessTransport({ handler: this.handler, loop, serverLoop: this.#serverLoop, user, freezes });
  }

  /** Runs loops until the signal aborts, with caches of their own, like a separate program. */
  runLoops(group: LoopGroup, { loop, signal, cut, onPass }: ProgramRun): ProgramLoops {
    const { log, metrics } = this.#options.surroundings;
    const transport = abortableTransport(this.transport(PROGRAM, loop), cut);
    const manager = manage(group, { transport, loop, log, metrics, onPass });
    const run = async (): Promise<void> => {
      try {
        await manager.run(signal);
      } finally {
        await transport.close();
      }
    };
    return { ended: run(), health: () => manager.health() };
  }

  /** Runs several groups that share their caches; each has its own leader election. */
  async runBuiltIn(
    groups: Readonly<Record<string, LoopGroup>>,
    signal: AbortSignal,
    { identity, logOf, onPass }: BuiltInRun = {},
  ): Promise<void> {
    const { loop: parent, log, metrics } = this.#options.surroundings;
    const instance = identity === undefined ? {} : { identity };
    const logFor = logOf ?? (() => log);
    const loop = parent.child("loops");
    const transport = this.transport(groupIdentity("controllers"), loop);
    const shared = { loop: loop.child("caches"), log: logFor("controllers"), metrics };
    const caches = new CacheSet({ transport, ...shared });
    const filled = Object.entries(groups).filter(([, group]) => !isEmptyGroup(group));
    const managers = filled.map(([name, group]) => {
      const own = loop.child(name);
      const clientOf = (user: PeerIdentity): Client =>
        createClient(transport.actingAs(user), { loop: own, retry: "none" });
      const client = clientOf(groupIdentity(name));
      const clientAs = (actor: string): Client => clientOf(actorIdentity(name, actor));
      const common = { loop: own, log: logFor(name), metrics, onPass, ...instance };
      return manage(group, { transport, caches, client, clientAs, ...common });
    });
    const tasks = managers.map((manager) => (each: AbortSignal) => manager.run(each));
    try {
      await runAll(signal, [...tasks, (each) => caches.run(each)]);
    } finally {
      await transport.close();
    }
  }

  /** Objects that are stored now, ordered by namespace and name; all namespaces if `namespace` is empty. */
  objects(type: ResourceType, namespace: string): readonly ApiObject[] {
    return this.#server.objects(type, namespace);
  }

  /** Creates the objects that clients expect of a server; the server is not ready before. */
  settle(address: ServerAddress): Promise<void> {
    return this.#server.settle(address);
  }

  /** Runs the server's background tasks until the signal aborts. Resolves when all have ended; rejects when one fails. */
  run(signal: AbortSignal): Promise<void> {
    return this.#server.run(signal);
  }
}
