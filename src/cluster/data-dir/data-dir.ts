/** The folder of a cluster's state: made when it is missing, refused when another user could change it, deleted. */
import { existsSync } from "node:fs";
import { readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../../base/process/make-folder.ts";
import { refuseLink, requireOwnFolder } from "../../base/process/private-path.ts";
import { storeFolder } from "./open-store.ts";

export async function openDataDir({
  dataDir,
  pkiDir,
}: {
  readonly dataDir: string;
  readonly pkiDir: string;
}): Promise<void> {
  await makeFolder(dataDir, 0o700);
  await requireOwnFolder(dataDir);
  const isWithin = pkiDir === join(dataDir, "pki");
  if (isWithin) await refuseLink(pkiDir, "name that folder with --pki-dir if it is meant");
  await refuseLink(storeFolder(dataDir), "name the folder above it with --data-dir if it is meant");
}

/** Everything that a cluster writes into its data dir. The default one also holds `clusters`, which is not its own. */
const ENTRIES = /^(?:store|pki|logs|pods|pods-logs|instance|kubeconfig|running\.json|[a-z-]+\.conf)$/;

/** Whether the folder has the state or the keys of a cluster. */
export function isDataDir(dataDir: string): boolean {
  return ["store", "pki"].some((name) => existsSync(join(dataDir, name)));
}

/** Deletes the data of a stopped cluster, and the folder unless it has other files, whose names are returned. */
export async function deleteDataDir(dataDir: string): Promise<readonly string[]> {
  const names = await readdir(dataDir);
  const own = names.filter((name) => ENTRIES.test(name));
  for (const name of own) await rm(join(dataDir, name), { recursive: true, force: true });
  const others = names.filter((name) => !ENTRIES.test(name));
  if (others.length === 0) await rmdir(dataDir);
  return others;
}
