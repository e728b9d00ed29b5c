/**
 * Looks now and then whether addresses and node ports are kept as the Services have them, and puts right what is not. What
 * it decides on is one state of the store, and what it writes counts only if nothing of that has changed.
 */
import type { Loop } from "../../base/loop/loop.ts";
import { isStoreError } from "../../store/store-error.ts";
import type { Transaction } from "../../store/store.ts";
import type { Workshop } from "../verbs/verb.ts";
import { AddressClaims, SERVICES } from "../write/companions/address-claim.ts";
import { inspectAddresses } from "../write/companions/address-repair.ts";
import type { AddressFault } from "../write/companions/address-repair.ts";
import { PortLedger, portsInUse } from "../write/companions/port-ledger.ts";
import type { PortRange } from "../write/companions/port-ledger.ts";
import type { Routine } from "./periodic-task.ts";

/** As kube-apiserver's. */
const EVERY_MS = 3 * 60_000;
/** Between two breaks: requests wait for none of this. */
const PIECE = 200;
/** In one round; the next goes on. */
const REPAIRS_MAX = 1000;
/** What a log line shows of many. */
const SHOWN_MAX = 10;

export function allocationRepair(workshop: Workshop, nodePorts: PortRange): readonly Routine[] {
  const claims = new AddressClaims(workshop);
  return [
    {
      name: "repair of service addresses",
      boot: ["poststarthook/start-service-ip-repair-controllers"],
      firstAfterMs: 0,
      everyMs: EVERY_MS,
      perform: () => repairAddresses(workshop, claims),
    },
    {
      name: "repair of node ports",
      boot: ["poststarthook/start-service-ip-repair-controllers"],
      firstAfterMs: 0,
      everyMs: EVERY_MS,
      perform: () => repairPorts(workshop, nodePorts),
    },
  ];
}

async function repairAddresses(workshop: Workshop, claims: AddressClaims): Promise<void> {
  const { loop, log, store, registry } = workshop;
  const repaired: AddressFault[] = [];
  const left: AddressFault[] = [];
  const findings = inspectAddresses({ view: store.view, claims, registry, now: loop.now() });
  for await (const finding of withBreaks(findings, loop)) {
    if (finding === undefined) continue;
    const { fault, repair } = finding;
    if (repair === undefined) left.push(fault);
    else if (await isWritten(repair, workshop)) repaired.push(fault);
    if (repaired.length === REPAIRS_MAX) break;
  }
  if (repaired.length > 0) log.warn("addresses of Services were repaired", shown(repaired));
  if (left.length > 0)
    log.warn("addresses belong to several Services; all but one need another", shown(left));
}

function shown(faults: readonly AddressFault[]): { count: number; first: readonly AddressFault[] } {
  return { count: faults.length, first: faults.slice(0, SHOWN_MAX) };
}

async function repairPorts(workshop: Workshop, range: PortRange): Promise<void> {
  const { log, loop, store } = workshop;
  const { view } = store;
  const used = new Set<number>();
  for await (const ports of withBreaks(portsInUse(view), loop)) for (const port of ports) used.add(port);
  // The ports of a Service that cannot be read would look free.
  if (workshop.unreadable(SERVICES).length > 0) return;
  const found = PortLedger.compare(view, range, used);
  if (found === undefined || found.changes.length === 0) return;
  const { leaked, missing, compare, changes } = found;
  if (!(await isWritten({ compare, changes }, workshop))) return;
  log.warn("the ledger of node ports was repaired", {
    leaked: leaked.length,
    missing: missing.length,
    first: [...leaked, ...missing].slice(0, SHOWN_MAX),
  });
}

/** Lets others run after every so many. */
async function* withBreaks<T>(items: Iterable<T>, loop: Loop): AsyncGenerator<T> {
  let count = 0;
  for (const item of items) {
    yield item;
    count += 1;
    if (count % PIECE === 0) await new Promise<void>((resolve) => loop.post("background", resolve));
  }
}

/** False when somebody wrote meanwhile: then there may be nothing left to repair, and the next round looks again. */
async function isWritten(
  transaction: Transaction,
  { store, journal, author, loop }: Workshop,
): Promise<boolean> {
  try {
    const { revision } = await store.write({ ...transaction, purpose: "upkeep" });
    const keys = transaction.changes.map(({ key }) => key);
    journal.record({ ...author, revision, keys, at: loop.now() });
    return true;
  } catch (error) {
    if (isStoreError(error, "ConditionFailed")) return false;
    throw error;
  }
}
