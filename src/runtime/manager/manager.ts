/**
 * Runs controllers and routines on shared caches. With leader election only one of several instances runs them at a
 * time. When `run` settles, everything it started has ended. Managers of one process share no state.
 */
import type { ResourceType } from "../../api/api-object.ts";
import { silentLog, type Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { untilAborted } from "../../base/loop/until-aborted.ts";
import type { Metrics } from "../../base/metrics/metrics.ts";
import { createMetrics } from "../../base/metrics/prom-metrics.ts";
import { createClient } from "../../client/api-client.ts";
import type { Client } from "../../client/client.ts";
import type { Transport } from "../../client/transport.ts";
import { CacheSet } from "../cache/cache-set.ts";
import { ControllerRun } from "../controller/controller-run.ts";
import type { Controller } from "../controller/controller.ts";
import { KnownKinds, kindsOf } from "../controller/kinds.ts";
import type { KnownKindsOptions } from "../controller/kinds.ts";
import type { PassRecord } from "../controller/pass-result.ts";
import { EventRecorder } from "../events/event-recorder.ts";
import { LeaderElection, type LeaderElectionOptions } from "./leader-election.ts";
import { refuseDuplicateNames } from "./loop-names.ts";
import type { Routine, RoutineParts } from "./routine.ts";
import { runAll } from "./run-all.ts";

/** Options of `createManager`: its settings, and either a transport for caches of its own or caches to share. */
export type ManagerOptions = ManagerSettings & (OwnCaches | SharedCaches);

/** Settings of a manager; all are optional. */
export interface ManagerSettings {
  /** Source of time, timers and randomness. Default: the real clock. */
  readonly loop?: Loop;
  /** Default: no log. */
  readonly log?: Log;
  /** Registry that receives the metrics. Default: a new one, which is `Manager.metrics`. */
  readonly metrics?: Metrics;
  /** Controllers to run, made by `defineController`. Default: none. */
  readonly controllers?: readonly Controller[];
  /** Routines to run beside the controllers. Default: none. */
  readonly routines?: readonly Routine[];
  /** Default: no election. Then controllers and routines start at once, on every instance. */
  readonly leaderElection?: Omit<LeaderElectionOptions, "identity"> & { readonly identity?: string };
  /** Name of this instance in Events, and in the Lease unless the election names another. Default: a random name. */
  readonly identity?: string;
  /** Namespace of the objects that are read; cluster-scoped objects are read as well. Default: all namespaces. */
  readonly namespace?: string;
  /**
   * Client of the controller or routine of that name, for example one with a user of its own. Default: the manager's
   * client.
   */
  readonly clientAs?: (actor: string) => Client;
  /** Called after each pass of a controller. */
  readonly onPass?: (pass: PassRecord) => void;
}

interface OwnCaches {
  /** Connection to the API server. */
  readonly transport: Transport;
  /** Default: a client over `transport`. */
  readonly client?: Client;
}

interface SharedCaches {
  /** Shared with others. The manager does not run them: the owner does. */
  readonly caches: CacheSet;
  /** Client for all requests. */
  readonly client: Client;
}

/** Runs controllers and routines until it is stopped. Made by `createManager`. */
export interface Manager {
  /**
   * Runs until the signal is aborted and everything has ended. A controller or routine starts once the caches of its
   * kinds have synced and, with an election, this instance leads. When one fails, the others are stopped and the
   * promise rejects with its error.
   */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Reason why the manager is unhealthy; undefined when it is healthy. A missing kind or permission, or a server that
   * does not respond, is named with the command that mends it. A manager whose watches receive nothing acts on stale
   * data; restart it.
   */
  health(): string | undefined;
  /** Whether the controllers and routines of this instance may act. Without an election: whether the manager runs. */
  readonly isLeading: boolean;
  /** Registry with the metrics of the manager, its controllers and its caches. */
  readonly metrics: Metrics;
}

/** Makes a manager. It does nothing until `run` is called. */
export function createManager(options: ManagerOptions): Manager {
  return new RuntimeManager(options);
}

/** The parts of one call of `run`. */
interface Run {
  readonly recorder: EventRecorder;
  readonly election: LeaderElection | undefined;
}

/** A controller or routine, and the kinds that must be cached before it starts. */
interface Member {
  readonly name: string;
  readonly kinds: KnownKinds;
  run(run: Run, signal: AbortSignal): Promise<void>;
}

class RuntimeManager implements Manager {
  readonly metrics: Metrics;
  readonly #options: ManagerOptions;
  readonly #loop: Loop;
  readonly #log: Log;
  readonly #client: Client;
  readonly #identity: string;
  readonly #caches: CacheSet;
  readonly #members: readonly Member[];
  /** Controllers that run now. */
  readonly #controllerRuns = new Set<ControllerRun>();
  #run: Run | undefined;

  constructor(options: ManagerOptions) {
    const { controllers = [], routines = [] } = options;
    refuseDuplicateNames({ controllers, routines });
    this.#options = options;
    this.#loop = options.loop ?? createRealLoop({ name: "manager" });
    this.#log = options.log ?? silentLog;
    this.metrics = options.metrics ?? createMetrics();
    this.#identity = options.identity ?? `setpoint-${this.#loop.random("identity").uuid()}`;
    this.#client = clientOf(options, this.#loop);
    this.#caches = "caches" in options ? options.caches : this.#ownCaches(options.transport);
    this.#members = [
      ...controllers.map((controller) => this.#controllerMember(controller)),
      ...routines.map((routine) => this.#routineMember(routine)),
    ];
  }

  get isLeading(): boolean {
    return this.#run !== undefined && (this.#run.election?.isLeading ?? true);
  }

  health(): string | undefined {
    const parts = [this.#caches, this.#run?.election, ...this.#controllerRuns];
    return parts.map((part) => part?.health()).find((reason) => reason !== undefined);
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#run !== undefined) throw new Error("the manager is running already");
    const run = this.#begin();
    this.#run = run;
    const services = new AbortController();
    const ownCaches = "caches" in this.#options ? [] : [(each: AbortSignal) => this.#caches.run(each)];
    const work = async (each: AbortSignal): Promise<void> => {
      try {
        await this.#work(run, each);
      } finally {
        services.abort(new Error("the work of the manager has ended"));
      }
    };
    // Caches and event recorder end after the controllers, so that the last Events are still written.
    const service = (task: (each: AbortSignal) => Promise<void>) => () => task(services.signal);
    try {
      await runAll(signal, [
        work,
        ...[...ownCaches, (each: AbortSignal) => run.recorder.run(each)].map(service),
      ]);
    } finally {
      this.#run = undefined;
    }
  }

  #begin(): Run {
    const { leaderElection } = this.#options;
    const [client, loop, log, metrics] = [this.#client, this.#loop, this.#log, this.metrics];
    const instance = this.#identity;
    const recorder = new EventRecorder({ client, loop: loop.child("events"), log, metrics, instance });
    if (leaderElection === undefined) return { recorder, election: undefined };
    const electionOptions = { identity: instance, ...leaderElection };
    const parts = { client, loop: loop.child("election"), log, recorder };
    return { recorder, election: new LeaderElection(electionOptions, parts) };
  }

  async #work(run: Run, signal: AbortSignal): Promise<void> {
    const runMembers = (lead: AbortSignal): Promise<void> =>
      runAll(lead, [
        untilAborted,
        ...this.#members.map((member) => (each: AbortSignal) => this.#runMember(member, run, each)),
      ]);
    if (run.election === undefined) return runMembers(signal);
    const stop = this.#showLead(run.election);
    try {
      await run.election.run(signal, runMembers);
    } finally {
      stop();
    }
  }

  #showLead(election: LeaderElection): () => void {
    const { name = "" } = this.#options.leaderElection ?? {};
    return this.metrics
      .gauge({
        name: "leader_election_master_status",
        help: "1 while this instance holds the lease, else 0.",
        labels: ["name"],
      })
      .read(() => (election.isLeading ? 1 : 0), { name });
  }

  async #runMember(member: Member, run: Run, signal: AbortSignal): Promise<void> {
    await member.kinds.synced(signal);
    this.#log.info("started", { loop: member.name });
    await member.run(run, signal);
  }

  #controllerMember(controller: Controller): Member {
    const { definition } = controller;
    const { name, indexes = [], owns = [] } = definition;
    const kinds = this.#kindsOf({ role: "controller", name }, kindsOf(definition));
    kinds.addIndexes(indexes);
    for (const type of owns) kinds.cache(type).indexControllers();
    const { onPass } = this.#options;
    const [client, loop, metrics] = [this.#clientAs(name), this.#loop, this.metrics];
    return {
      name,
      kinds,
      run: ({ recorder }, signal) => {
        const parts = { loop: loop.child(name), log: this.#log, metrics, client, kinds, recorder, onPass };
        return this.#runController(new ControllerRun(controller, parts), signal);
      },
    };
  }

  async #runController(run: ControllerRun, signal: AbortSignal): Promise<void> {
    this.#controllerRuns.add(run);
    try {
      await run.run(signal);
    } finally {
      this.#controllerRuns.delete(run);
    }
  }

  #routineMember(routine: Routine): Member {
    const { name, indexes = [], events: form = "counted" } = routine;
    const kinds = this.#kindsOf({ role: "routine", name }, routine.reads);
    kinds.addIndexes(indexes);
    const [client, loop, metrics] = [this.#clientAs(name), this.#loop, this.metrics];
    return {
      name,
      kinds,
      run: ({ recorder }, signal) => {
        const parts: RoutineParts = {
          loop: loop.child(name),
          log: this.#log.with({ routine: name }),
          metrics,
          client: client.with({ fieldManager: name, signal }),
          clientAs: (actor) => this.#clientAs(actor).with({ fieldManager: name, signal }),
          cache: kinds.read,
          subscribe: (type, listener) => kinds.cache(type).subscribe(listener),
          silenceMs: (type) => this.#caches.silenceMs(type),
          hold: (type) => this.#caches.hold(type),
          event: (about, event) => recorder.record({ form, component: event.reporter ?? name, about, event }),
        };
        return routine.run(parts, signal);
      },
    };
  }

  #clientAs(actor: string): Client {
    return this.#options.clientAs?.(actor) ?? this.#client;
  }

  #ownCaches(transport: Transport): CacheSet {
    return new CacheSet({
      transport,
      loop: this.#loop.child("caches"),
      log: this.#log,
      metrics: this.metrics,
    });
  }

  #kindsOf(owner: KnownKindsOptions["owner"], types: readonly ResourceType[]): KnownKinds {
    return new KnownKinds({ owner, types, caches: this.#caches, namespace: this.#options.namespace });
  }
}

function clientOf(options: ManagerOptions, loop: Loop): Client {
  if ("caches" in options) return options.client;
  return options.client ?? createClient(options.transport, { loop: loop.child("client") });
}
