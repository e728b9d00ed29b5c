/** Faults of a chaos run: programs, servers, connections, clocks. */
import { PARTS } from "./chaos-cluster.ts";
import type { ChaosCluster, Part } from "./chaos-cluster.ts";
import { isLucky, pick } from "./chaos-manifests.ts";

const JUMPS_MS = [0, 0, -60_000, -2000, 2000, 60_000];

/** Breaks or heals something; only these programs are affected. */
export async function disturb(world: ChaosCluster, parts: readonly Part[]): Promise<string> {
  const { random, weather } = world;
  const what = random.below(10);
  if (what < 4) return await turn(world, parts);
  if (what === 4) {
    weather.cuts++;
    return "watches are cut";
  }
  if (what === 5) {
    await world.compact();
    return "history is given up";
  }
  if (what === 6) return jump(world, parts);
  if (what === 7) return await turnServer(world);
  weather.requestOdds = pick(random, [0, 0, 4, 15, 60]);
  weather.watchOdds = pick(random, [0, 0, 4, 15, 60]);
  weather.storeOdds = pick(random, [0, 0, 4, 15, 60]);
  return `weather ${JSON.stringify(weather)}`;
}

/** Sets a clock wrong, or right again. */
function jump({ random, clocks }: ChaosCluster, parts: readonly Part[]): string {
  const part = pick(random, parts);
  const offsetMs = pick(random, JUMPS_MS);
  clocks[part].offsetMs = offsetMs;
  return `the clock of ${part} is ${String(offsetMs)} ms ahead`;
}

async function turnServer({ random, servers }: ChaosCluster): Promise<string> {
  const [missing] = servers.missing;
  if (missing !== undefined) {
    await servers.start(missing);
    return `server ${String(missing)} starts`;
  }
  if (servers.expendable.length === 0) return "";
  const at = pick(random, servers.expendable);
  servers.kill(at);
  return `server ${String(at)} is killed`;
}

/** Stops, kills or restarts a part; stopped parts restart first. */
async function turn(world: ChaosCluster, parts: readonly Part[]): Promise<string> {
  const { random } = world;
  const away = parts.filter((each) => !world.isRunning(each));
  const part = isLucky(random, 3) || away.length === 0 ? pick(random, parts) : pick(random, away);
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

/** Heals everything; nodes whose objects were deleted come back too. */
export async function heal(world: ChaosCluster): Promise<void> {
  world.weather.requestOdds = 0;
  world.weather.watchOdds = 0;
  world.weather.storeOdds = 0;
  for (const clock of Object.values(world.clocks)) clock.offsetMs = 0;
  await world.servers.startAll();
  for (const part of PARTS) if (!world.isRunning(part)) world.start(part);
  // A node whose object was deleted comes back when its agent restarts.
  await world.stop("nodes");
  world.start("nodes");
}
