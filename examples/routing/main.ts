/** The controller as a program of its own, against the cluster that the kubeconfig names. */
import process from "node:process";
import { connect } from "setpoint/client";
import { createManager, createTextLog } from "setpoint/runtime";
import { Link, Router } from "./network.ts";
import { routing } from "./routing.ts";

const ending = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => ending.abort());

const log = createTextLog({ isColoured: false, write: (line) => process.stderr.write(line) });
await using connection = await connect();
for (const { definition } of [Router, Link])
  await connection.client.apply(definition, { fieldManager: "routing" });
const { transport, client } = connection;
const leaderElection = { name: "routing", namespace: connection.namespace };
const manager = createManager({ transport, client, log, controllers: [routing], leaderElection });
log.info("routing", { namespace: connection.namespace });
await manager.run(ending.signal);
