import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../base/log/log.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import { openPki } from "../../server/pki/pki.ts";
import { openSigner } from "./signing-files.ts";

const loop = createRealLoop({ name: "test" });

test("a CA is accepted, and any other file is refused with its name", async () => {
  const dir = mkdtempSync(join(tmpdir(), "setpoint-signing-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  await openPki({ dir, names: ["127.0.0.1"], loop, log: silentLog });
  const [certFile, keyFile, other, text] = ["ca.crt", "ca.key", "sa.key", "text"].map((name) =>
    join(dir, name),
  ) as [string, string, string, string];
  writeFileSync(text, "no key", { mode: 0o600 });

  await expect(openSigner({ certFile, keyFile }, loop)).resolves.toBeDefined();
  await expect(openSigner({ certFile, keyFile: other }, loop)).rejects.toThrow(
    `${other} does not belong to ${certFile}`,
  );
  await expect(openSigner({ certFile: text, keyFile }, loop)).rejects.toThrow(`${text} is not a certificate`);
  await expect(openSigner({ certFile, keyFile: text }, loop)).rejects.toThrow(`${text} is not a private key`);
});
