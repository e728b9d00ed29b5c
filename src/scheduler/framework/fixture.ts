/** Profile with all plugins and empty caches, for tests. */
import { incomplete } from "../../api/object-fixture.ts";
import { VirtualLoop } from "../../base/loop/virtual/virtual-loop.ts";
import type { Client } from "../../client/client.ts";
import type { CacheView } from "../../runtime/cache/cache-view.ts";
import type { CacheReader } from "../../runtime/controller/controller.ts";
import { DEFAULT_WEIGHTS, makePlugins } from "../default-plugins.ts";
import type { ClusterSnapshot } from "../snapshot/cluster-snapshot.ts";
import { Nominations } from "./nominations.ts";
import { Profile } from "./profile.ts";
import { PLUGIN_NAMES } from "./scheduler-plugin.ts";

const NOTHING = incomplete<CacheView<never>>({ find: () => undefined, list: () => [], indexed: () => [] });

export function makeProfile(snapshot: ClusterSnapshot, nominations = new Nominations()): Profile {
  const loop = new VirtualLoop({ seed: 1 });
  const context = {
    snapshot,
    loop,
    cache: (() => NOTHING) as CacheReader,
    client: incomplete<Client>({}),
    event: () => undefined,
    write: <T>(send: () => Promise<T>) => send(),
    onVolumeChange: () => () => undefined,
  };
  return new Profile({
    schedulerName: "default-scheduler",
    plugins: makePlugins(new Set(PLUGIN_NAMES), context),
    weights: DEFAULT_WEIGHTS,
    percentageOfNodesToScore: 0,
    snapshot,
    nominations,
    ties: loop.random("ties"),
  });
}
