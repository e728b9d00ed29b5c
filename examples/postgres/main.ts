/** The operator as a program of its own, against the cluster that the kubeconfig names. */
import process from "node:process";
import { connect } from "setpoint/client";
import { createManager, createTextLog } from "setpoint/runtime";
import { PostgresCluster } from "./kind.ts";
import { postgresOperator } from "./operator.ts";

const ending = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => ending.abort());

const log = createTextLog({ isColoured: false, write: (line) => process.stderr.write(line) });
await using connection = await connect();
await connection.client.apply(PostgresCluster.definition, { fieldManager: "postgres-operator" });
const { transport, client, namespace } = connection;
const leaderElection = { name: "postgres-operator", namespace };
const manager = createManager({ transport, client, log, controllers: [postgresOperator], leaderElection });
log.info("keeping PostgreSQL clusters", { namespace });
await manager.run(ending.signal);
