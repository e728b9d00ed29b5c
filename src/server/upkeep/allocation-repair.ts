/**
 * Periodically compares allocated addresses and node ports with the Services, and repairs differences. Each repair is decided on one
 * snapshot of the store. Its write succeeds only if the keys involved have not changed since.
 */
import type { Log } from "../../base/log/log.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { isStoreError } from "../../store/store-error.ts";
import type { Store, Transaction } from "../../store/store.ts";
import type { Registry } from "../objects/registry.ts";
import type { Versions } from "../objects/versions.ts";
import { AddressClaims, SERVICES } from "../write/companions/address-claim.ts";
import { inspectAddresses } from "../write/companions/address-repair.ts";
import type { AddressFault } from "../write/companions/address-repair.ts";
import { PortAllocation, portsInUse } from "../write/companions/port-allocation.ts";
import type { PortRange } from "../write/companions/port-allocation.ts";
import type { Journal } from "../write/journal.ts";
import { SERVER_AUTHOR } from "../write/journal.ts";
import type { PeriodicTask } from "./periodic-task.ts";

export interface RepairParts {
  readonly loop: Loop;
  readonly log: Log;
  readonly store: Store;
  readonly registry: Registry;
  readonly versions: Versions;
  readonly journal: Journal;
  readonly unreadable: (prefix: string) => readonly string[];
}

/** Same as kube-apiserver's. */
const EVERY_MS = 3 * 60_000;
/** Items between two yields to the loop, so that the repair does not delay requests. */
const PIECE = 200;
/** Upper bound for one round. The next round continues. */
const REPAIRS_MAX = 1000;
/** Upper bound of the faults listed in a log line. */
const SHOWN_MAX = 10;

export function allocationRepair(verbParts: RepairParts, nodePorts: PortRange): readonly PeriodicTask[] {
  const claims = new AddressClaims(verbParts);
  return [
    {
      name: "repair of service addresses",
      boot: ["poststarthook/start-service-ip-repair-controllers"],
      firstAfterMs: 0,
      everyMs: EVERY_MS,
      perform: () => repairAddresses(verbParts, claims),
    },
    {
      name: "repair of node ports",
      boot: ["poststarthook/start-service-ip-repair-controllers"],
      firstAfterMs: 0,
      everyMs: EVERY_MS,
      perform: () => repairPorts(verbParts, nodePorts),
    },
  ];
}

async function repairAddresses(verbParts: RepairParts, claims: AddressClaims): Promise<void> {
  const { loop, log, store, registry } = verbParts;
  const repaired: AddressFault[] = [];
  const left: AddressFault[] = [];
  const findings = inspectAddresses({ view: store.view, claims, registry, now: loop.now() });
  for await (const finding of withBreaks(findings, loop)) {
    if (finding === undefined) continue;
    const { fault, repair } = finding;
    if (repair === undefined) left.push(fault);
    else if (await isWritten(repair, verbParts)) repaired.push(fault);
    if (repaired.length === REPAIRS_MAX) break;
  }
  if (repaired.length > 0) log.warn("addresses of Services were repaired", shown(repaired));
  if (left.length > 0)
    log.warn("addresses belong to several Services; all but one need another", shown(left));
}

function shown(faults: readonly AddressFault[]): { count: number; first: readonly AddressFault[] } {
  return { count: faults.length, first: faults.slice(0, SHOWN_MAX) };
}

async function repairPorts(verbParts: RepairParts, range: PortRange): Promise<void> {
  const { log, loop, store } = verbParts;
  const { view } = store;
  const used = new Set<number>();
  for await (const ports of withBreaks(portsInUse(view), loop)) for (const port of ports) used.add(port);
  // The ports of an unreadable Service would look unused.
  if (verbParts.unreadable(SERVICES).length > 0) return;
  const found = PortAllocation.compare(view, range, used);
  if (found === undefined || found.changes.length === 0) return;
  const { leaked, missing, compare, changes } = found;
  if (!(await isWritten({ compare, changes }, verbParts))) return;
  log.warn("the ledger of node ports was repaired", {
    leaked: leaked.length,
    missing: missing.length,
    first: [...leaked, ...missing].slice(0, SHOWN_MAX),
  });
}

/** Yields to the loop after each PIECE of items. */
async function* withBreaks<T>(items: Iterable<T>, loop: Loop): AsyncGenerator<T> {
  let count = 0;
  for (const item of items) {
    yield item;
    count += 1;
    if (count % PIECE === 0) await new Promise<void>((resolve) => loop.post("background", resolve));
  }
}

/** False on a conflict with another writer. The repair may then be obsolete, and the next round checks again. */
async function isWritten(transaction: Transaction, { store, journal, loop }: RepairParts): Promise<boolean> {
  try {
    const { revision } = await store.write({ ...transaction, purpose: "upkeep" });
    const keys = transaction.changes.map(({ key }) => key);
    journal.record({ ...SERVER_AUTHOR, revision, keys, at: loop.now() });
    return true;
  } catch (error) {
    if (isStoreError(error, "ConditionFailed")) return false;
    throw error;
  }
}
