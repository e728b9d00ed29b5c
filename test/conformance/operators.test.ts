/**
 * Three operators of other projects, installed unchanged with the real kubectl; they run under their own service accounts only.
 */
import { afterAll, beforeAll, describe } from "vitest";
import { describePeer } from "../peers.ts";
import { backupClaims, beginBackups } from "./operators/backup-claims.ts";
import type { BackupScene } from "./operators/backup-claims.ts";
import { beginCertificates, certificateClaims } from "./operators/certificate-claims.ts";
import type { CertificateScene } from "./operators/certificate-claims.ts";
import { OperatorFixture } from "./operators/fixture.ts";
import { beginQueues, queueClaims } from "./operators/queue-claims.ts";
import type { QueueScene } from "./operators/queue-claims.ts";

describePeer("kubectl", "an operator", (path) => {
  let world: OperatorFixture;
  let scenes: readonly [CertificateScene, QueueScene, BackupScene];
  beforeAll(async () => {
    world = await OperatorFixture.start(path);
    // In parallel, because most of the time is waiting.
    scenes = await Promise.all([beginCertificates(world), beginQueues(world), beginBackups(world)]);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  describe("of certificates", () => {
    certificateClaims(() => scenes[0]);
  });
  describe("of queues", () => {
    queueClaims(() => scenes[1]);
  });
  describe("of backups", () => {
    backupClaims(() => scenes[2]);
  });
});
