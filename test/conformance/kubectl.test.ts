/**
 * The real kubectl, command by command: its output and effects equal Kubernetes'. The server runs without controllers;
 * kubectl-cluster.test.ts covers a whole cluster.
 */
import { afterAll, beforeAll, describe, test } from "vitest";
import { describePeer } from "../peers.ts";
import { applyClaims } from "./kubectl/apply.ts";
import { changeClaims } from "./kubectl/change.ts";
import { createClaims } from "./kubectl/create.ts";
import { customClaims } from "./kubectl/custom.ts";
import { deleteClaims } from "./kubectl/delete.ts";
import { describeClaims } from "./kubectl/describe.ts";
import { getClaims } from "./kubectl/get.ts";
import { clientVersion } from "./kubectl/kubectl.ts";
import { nodeClaims } from "./kubectl/node.ts";
import { patchClaims } from "./kubectl/patch.ts";
import { refusalClaims } from "./kubectl/refusals.ts";
import { restartClaims } from "./kubectl/restart.ts";
import { serverClaims } from "./kubectl/server.ts";
import { Session } from "./kubectl/session.ts";
import { setClaims } from "./kubectl/set.ts";
import type { Suite } from "./kubectl/suite.ts";
import { waitClaims } from "./kubectl/wait.ts";

const CLAIMS: Readonly<Record<string, (suite: Suite) => void>> = {
  get: getClaims,
  describe: describeClaims,
  create: createClaims,
  apply: applyClaims,
  patch: patchClaims,
  "edit, replace, label, annotate, scale": changeClaims,
  "set, run, expose, rollout": setClaims,
  delete: deleteClaims,
  "wait and events": waitClaims,
  nodes: nodeClaims,
  "custom resources": customClaims,
  "the server as a whole": serverClaims,
  mistakes: refusalClaims,
};

/** The server refuses pods without a service account; no other controller runs. */
const ACCOUNTS = ["serviceaccount-controller"];

describePeer("kubectl", "kubectl", (path) => {
  const client = clientVersion(path);
  let session: Session;
  beforeAll(async () => {
    session = await Session.start(path, { loops: ACCOUNTS, nodes: 0 });
  });
  afterAll(() => session[Symbol.asyncDispose]());

  const suite: Suite = {
    namespace: () => session.namespace(),
    since: (minor) => (client < minor ? test.skip : test),
  };
  for (const [title, claims] of Object.entries(CLAIMS)) {
    // A command mostly waits for its process to start: running several at once takes less than half the time.
    describe.concurrent(title, () => {
      claims(suite);
    });
  }
  describe("a restart", () => {
    restartClaims(path);
  });
});
