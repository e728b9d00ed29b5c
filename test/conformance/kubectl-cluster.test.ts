/** The real kubectl on a whole cluster with controllers, scheduler and simulated nodes. */
import { afterAll, beforeAll, describe, test } from "vitest";
import { describePeer } from "../peers.ts";
import { cascadeClaims } from "./kubectl/cascade.ts";
import { drainClaims } from "./kubectl/drain.ts";
import { clientVersion } from "./kubectl/kubectl.ts";
import { rolloutClaims } from "./kubectl/rollout.ts";
import { Session } from "./kubectl/session.ts";
import type { Suite } from "./kubectl/suite.ts";
import { workloadClaims } from "./kubectl/workload.ts";

const CLAIMS: Readonly<Record<string, (suite: Suite) => void>> = {
  workloads: workloadClaims,
  rollout: rolloutClaims,
  "delete with what is owned": cascadeClaims,
};

describePeer("kubectl", "kubectl in a whole cluster", (path) => {
  const client = clientVersion(path);
  let session: Session;
  beforeAll(async () => {
    session = await Session.start(path, { loops: "all", nodes: 3 });
  });
  afterAll(() => session[Symbol.asyncDispose]());

  const suite: Suite = {
    namespace: () => session.namespace(),
    since: (minor) => (client < minor ? test.skip : test),
  };
  for (const [title, claims] of Object.entries(CLAIMS)) {
    describe.concurrent(title, () => {
      claims(suite);
    });
  }
  // Nodes are shared by all tests: these tests run last, one after the other.
  describe("drain", () => {
    drainClaims(suite);
  });
});
