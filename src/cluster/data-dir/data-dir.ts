/** The folder of a cluster's state: made when it is missing, refused when another user could change it, deleted. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, realpath, rm, rmdir } from "node:fs/promises";
import { join, sep } from "node:path";
import { promisify } from "node:util";
import { makeFolder } from "../../base/process/make-folder.ts";
import { mountPointsIn } from "../../base/process/mount-table.ts";
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
const ENTRIES =
  /^(?:store|pki|logs|pods|pods-logs|process|volumes|instance|kubeconfig|running\.json|[a-z-]+\.conf)$/;

/** File that no other program writes: `/etc/kubernetes` has keys and `.conf` files, too. */
export const INSTANCE_FILE = "instance";

/** Whether the folder has the state or the keys of a cluster. */
export function isDataDir(dataDir: string): boolean {
  return ["store", "pki"].some((name) => existsSync(join(dataDir, name)));
}

/** Rejects with the remedy for a folder that is more than the data dir of a cluster. */
export async function requireDeletable(dataDir: string, homeDir: string): Promise<void> {
  await refuseLink(dataDir, "name that folder with --data-dir if it is meant");
  await requireOwnFolder(dataDir);
  const real = await realpath(dataDir);
  const home = await realpath(homeDir).catch(() => homeDir);
  if (real === home || home.startsWith(`${real}${sep}`) || real === sep)
    throw new Error(`${dataDir} has more than a cluster: delete the cluster's files in it yourself`);
  if (!existsSync(join(dataDir, INSTANCE_FILE)))
    throw new Error(
      `${dataDir} has no file ${INSTANCE_FILE}, so no cluster of setpoint has run there: delete it yourself`,
    );
}

/** Deletes the data of a stopped cluster, and the folder unless it has other files, whose names are returned. */
export async function deleteDataDir(dataDir: string): Promise<readonly string[]> {
  const names = await readdir(dataDir);
  const own = names.filter((name) => ENTRIES.test(name));
  await unmountVolumes(await realpath(dataDir));
  // The file that marks the folder goes last: a deletion that failed can be repeated.
  for (const name of own.toSorted((a, b) => Number(a === INSTANCE_FILE) - Number(b === INSTANCE_FILE)))
    await rm(join(dataDir, name), { recursive: true, force: true });
  const others = names.filter((name) => !ENTRIES.test(name));
  if (others.length === 0) await rmdir(dataDir);
  return others;
}

/** Memory volumes of pods are mounts. Rejects for a mount of the user, whose files are elsewhere too. */
async function unmountVolumes(dataDir: string): Promise<void> {
  const points = mountPointsIn(dataDir).filter((point) => point !== dataDir);
  const isVolume = (point: string): boolean =>
    /^pods\/[^/]+\/volumes\//.test(point.slice(dataDir.length + 1));
  const foreign = points.find((point) => !isVolume(point));
  if (foreign !== undefined)
    throw new Error(`${foreign} is a mount: unmount it first with umount ${foreign}`);
  for (const point of points) await promisify(execFile)("umount", [point]);
}
