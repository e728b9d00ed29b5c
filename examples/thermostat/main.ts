/** The controller as a program of its own, against the cluster that the kubeconfig names. */
import process from "node:process";
import { connect } from "setpoint/client";
import { createManager, createTextLog } from "setpoint/runtime";
import { Thermostat, thermostats } from "./thermostat.ts";

const ending = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => ending.abort());

const log = createTextLog({ isColoured: false, write: (line) => process.stderr.write(line) });
await using connection = await connect();
await connection.client.apply(Thermostat.definition, { fieldManager: "thermostat" });
const { transport, client } = connection;
const leaderElection = { name: "thermostat", namespace: connection.namespace };
const manager = createManager({ transport, client, log, controllers: [thermostats], leaderElection });
log.info("keeping thermostats", { namespace: connection.namespace });
await manager.run(ending.signal);
