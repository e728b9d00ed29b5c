/** Prepares the folder of a cluster's state: creates it when it is missing, refuses it when another user could change it. */
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
