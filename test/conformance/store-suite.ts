/** The suite that every store engine passes: each sentence of src/store/store.ts has a test here. */
import { describe } from "vitest";
import type { StoreEngine } from "./store-fixture.ts";
import { describeExpiry } from "./store/expiry.ts";
import { describeLifecycle } from "./store/lifecycle.ts";
import { describeReads } from "./store/reads.ts";
import { describeSpace } from "./store/space.ts";
import { describeTakenWatches } from "./store/taken-watches.ts";
import { describeWatchLoad } from "./store/watch-load.ts";
import { describeWatches } from "./store/watches.ts";
import { describeWrites } from "./store/writes.ts";

export function storeSuite(engine: StoreEngine): void {
  describe(`the ${engine.name} store`, { timeout: engine.waitMs * 2 }, () => {
    describeWrites(engine);
    describeReads(engine);
    describeWatches(engine);
    describeTakenWatches(engine);
    describeExpiry(engine);
    describeLifecycle(engine);
    describeSpace(engine);
    describeWatchLoad(engine);
  });
}
