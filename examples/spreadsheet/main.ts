/** The controller as a program of its own, against the cluster that the kubeconfig names. */
import process from "node:process";
import { connect } from "setpoint/client";
import { createManager, createTextLog } from "setpoint/runtime";
import { Cell, spreadsheet } from "./spreadsheet.ts";

const ending = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => ending.abort());

const log = createTextLog({ isColoured: false, write: (line) => process.stderr.write(line) });
await using connection = await connect();
await connection.client.apply(Cell.definition, { fieldManager: "spreadsheet" });
const { transport, client } = connection;
const leaderElection = { name: "spreadsheet", namespace: connection.namespace };
const manager = createManager({ transport, client, log, controllers: [spreadsheet], leaderElection });
log.info("calculating cells", { namespace: connection.namespace });
await manager.run(ending.signal);
