/** The controller as a program of its own, against the cluster that the kubeconfig names. */
import process from "node:process";
import { connect } from "setpoint/client";
import { createManager, createTextLog } from "setpoint/runtime";
import { File } from "./file.ts";
import { folderOnDisk } from "./folder.ts";
import { keepFiles } from "./keep-files.ts";

const [root = "kept"] = process.argv.slice(2);
const ending = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => ending.abort());

const log = createTextLog({ isColoured: false, write: (line) => process.stderr.write(line) });
await using connection = await connect();
await connection.client.apply(File.definition, { fieldManager: "keep-files" });
const { transport, client } = connection;
const leaderElection = { name: "keep-files", namespace: connection.namespace };
const controllers = [keepFiles(folderOnDisk(root))];
const manager = createManager({ transport, client, log, controllers, leaderElection });
log.info("keeping files", { folder: root });
await manager.run(ending.signal);
