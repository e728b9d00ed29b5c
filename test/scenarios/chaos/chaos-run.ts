/** One run: people and faults by seed, then rest, then the verdict. */
import type { Change } from "./chaos-history.ts";
import { isLucky, pick } from "./chaos-manifests.ts";
import { People } from "./chaos-people.ts";
import { brokenPromises } from "./chaos-promises.ts";
import { wrongAtRest } from "./chaos-rest.ts";
import { ChaosWorld, PARTS } from "./chaos-world.ts";

export interface ChaosOptions {
  readonly seed: number;
  /** How much people do. */
  readonly deeds: number;
  /** Of virtual time, after which everything must have come to rest. */
  readonly restMs: number;
}

export interface Verdict {
  /** Empty when everything is as it must be. */
  readonly broken: readonly string[];
  /** What happened, for whoever looks into a run: revision, time, deed. */
  readonly log: readonly string[];
  readonly complaints: readonly string[];
  readonly changes: readonly Change[];
  readonly started: number;
}

const SETTLING_IN_MS = 30_000;
/** Nothing but heartbeats may be written in it. */
const QUIET_MS = 600_000;
const HEARTBEATS = ["Lease", "Node", "Event"];
const PAUSES_MS = [0, 50, 500, 5000, 30_000];

export async function runChaos({ seed, deeds, restMs }: ChaosOptions): Promise<Verdict> {
  await using world = await ChaosWorld.open(seed);
  const { history, random, complaints } = world;
  const people = new People(world);
  await people.settleIn();
  await world.advance(SETTLING_IN_MS);
  const started = world.now();
  const log: string[] = [];
  for (let count = 0; count < deeds; count++) {
    const told = await people.act();
    log.push(`${String(history.revision)} +${String(world.now() - started)} ${told}`);
    if (isLucky(random, 3)) log.push(`   ${await disturb(world)}`);
    await world.advance(pick(random, PAUSES_MS));
  }
  await heal(world);
  await people.goHome();
  await world.advance(restMs);
  const rested = history.changes.length;
  await world.advance(QUIET_MS);
  const late = history.changes.slice(rested).filter(({ kind }) => !HEARTBEATS.includes(kind));
  const broken = [
    ...brokenPromises(history.changes),
    ...wrongAtRest(history.left()),
    ...new Set(late.map(({ key }) => `${key} is still written`)),
    ...complaints.filter((line) => line.includes("does not come to rest") || line.includes(" ended: ")),
  ];
  return { broken, log, complaints, changes: history.changes, started };
}

async function disturb(world: ChaosWorld): Promise<string> {
  const { random, weather } = world;
  const what = random.below(8);
  if (what < 4) return await turn(world);
  if (what === 4) {
    weather.cuts++;
    return "watches are cut";
  }
  if (what === 5) {
    await world.compact();
    return "history is given up";
  }
  weather.requestOdds = pick(random, [0, 0, 4, 15, 60]);
  weather.watchOdds = pick(random, [0, 0, 4, 15, 60]);
  return `weather ${JSON.stringify(weather)}`;
}

/** A part ends, well or badly, or comes back; those that are away come first. */
async function turn(world: ChaosWorld): Promise<string> {
  const { random } = world;
  const away = PARTS.filter((each) => !world.isRunning(each));
  const part = isLucky(random, 3) || away.length === 0 ? pick(random, PARTS) : pick(random, away);
  if (!world.isRunning(part)) {
    world.start(part);
    return `${part} starts`;
  }
  if (isLucky(random, 2)) {
    world.kill(part);
    return `${part} is killed`;
  }
  await world.stop(part);
  return `${part} is stopped`;
}

async function heal(world: ChaosWorld): Promise<void> {
  world.weather.requestOdds = 0;
  world.weather.watchOdds = 0;
  for (const part of PARTS) if (!world.isRunning(part)) world.start(part);
  // A node whose object was deleted comes back when its agent starts anew.
  await world.stop("nodes");
  world.start("nodes");
}
