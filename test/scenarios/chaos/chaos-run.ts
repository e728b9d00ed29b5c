/** One run: users and faults by seed, then rest, then the verdict. */
import { ChaosCluster, PARTS } from "./chaos-cluster.ts";
import { brokenCounts } from "./chaos-counts.ts";
import { disturb, heal } from "./chaos-faults.ts";
import type { Change } from "./chaos-history.ts";
import { brokenInvariants } from "./chaos-invariants.ts";
import { isLucky, pick } from "./chaos-manifests.ts";
import { brokenDeletions } from "./chaos-owners.ts";
import { wrongWhenSettled } from "./chaos-settled.ts";
import { ChaosUsers } from "./chaos-users.ts";

export interface ChaosOptions {
  readonly seed: number;
  /** Number of actions of users. */
  readonly deeds: number;
  /** Virtual time after which everything must be idle. */
  readonly restMs: number;
}

export interface ChaosResult {
  /** Empty if all claims hold. */
  readonly broken: readonly string[];
  /** Log for the reader of a failed run: revision, time, action. */
  readonly log: readonly string[];
  readonly complaints: readonly string[];
  readonly changes: readonly Change[];
  readonly started: number;
}

const SETTLING_IN_MS = 30_000;
/** Time in which only heartbeats may be written. */
const QUIET_MS = 600_000;
const HEARTBEATS = ["Lease", "Node", "Event"];
const SERVER_LEASES = "/registry/masterleases/";
const PAUSES_MS = [0, 50, 500, 5000, 30_000];

export async function runChaos({ seed, deeds, restMs }: ChaosOptions): Promise<ChaosResult> {
  // Every second world has two servers.
  await using world = await ChaosCluster.open(seed, 1 + (seed % 2));
  const { history, random, complaints } = world;
  const people = new ChaosUsers(world);
  await people.settleIn();
  await world.advance(SETTLING_IN_MS);
  const started = world.now();
  const log: string[] = [];
  for (let count = 0; count < deeds; count++) {
    const told = await people.act();
    log.push(`${String(history.revision)} +${String(world.now() - started)} ${told}`);
    if (isLucky(random, 3)) log.push(`   ${await disturb(world, PARTS)}`);
    await world.advance(pick(random, PAUSES_MS));
  }
  await heal(world);
  await people.goHome();
  await world.advance(restMs);
  const rested = history.changes.length;
  await world.advance(QUIET_MS);
  const late = history.changes
    .slice(rested)
    .filter(({ kind, key }) => !HEARTBEATS.includes(kind) && !key.startsWith(SERVER_LEASES));
  const broken = [
    ...brokenInvariants(history.changes),
    ...brokenCounts(history.changes),
    ...brokenDeletions(history.changes),
    ...wrongWhenSettled(history.left()),
    ...new Set(late.map(({ key }) => `${key} is still written`)),
    ...complaints.filter((line) => line.includes(" ended: ") || /^\w.* does not settle/.test(line)),
  ];
  return { broken, log, complaints, changes: history.changes, started };
}
