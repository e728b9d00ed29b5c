/** Values for completion from this machine and from the cluster that the line names. */
import { collectionPath } from "../../api/api-object.ts";
import { isJsonObject } from "../../api/json/json-object.ts";
import type { Loop } from "../../base/loop/loop.ts";
import { createRealLoop } from "../../base/loop/real/real-loop.ts";
import type { Client } from "../../client/client.ts";
import { loadKubeconfig } from "../../client/kubeconfig-files.ts";
import { findResource, groupOf, readServedResources } from "../../client/served-resources.ts";
import { connectAs, findAccess } from "../cluster-access.ts";
import type { Arguments, Io } from "../command.ts";
import { placesOf } from "../list.ts";
import type { GivenOptions, Lookup } from "./candidates.ts";

/** A user who pressed Tab waits no longer. */
const PATIENCE_MS = 2000;

/** Upper bound of the names that a shell shows. */
const NAMES_MAX = 500;

export function clusterLookup(io: Io): Lookup {
  const loop = createRealLoop({ name: "completion" });
  return {
    types: (given) =>
      ask({ io, loop, given }, async (client) => {
        const types = (await readServedResources(client))
          .filter(({ verbs }) => verbs.includes("list"))
          .map((resource) => ({ ...resource, group: groupOf(resource) }));
        return [
          ...new Set(
            types.map(({ plural, group }) => {
              const isFirst = types.find((each) => each.plural === plural)?.group === group;
              return isFirst ? plural : `${plural}.${group}`;
            }),
          ),
        ];
      }),
    names: (type, given) =>
      ask({ io, loop, given }, async (client, contextNamespace) => {
        const resource = findResource(type, await readServedResources(client));
        if (resource === undefined) return [];
        const path = collectionPath(resource, given["namespace"] ?? contextNamespace);
        return namesIn(await client.request({ path, query: { limit: String(NAMES_MAX) }, form: "metadata" }));
      }),
    clusters: () => Promise.resolve(placesOf(io).map(({ name }) => name)),
    contexts: async (given) => {
      try {
        const { file } = await findAccess(io, argumentsOf(given), loop);
        const env = { ...io.env, HOME: io.homeDir };
        const { contexts } = await loadKubeconfig({ loop, env, ...(file !== undefined && { file }) });
        return [...contexts.keys()];
      } catch {
        return [];
      }
    },
  };
}

interface Place {
  readonly io: Io;
  readonly loop: Loop;
  readonly given: GivenOptions;
}

/** Completion never prints an error: without an answer in time there are no candidates. */
async function ask(
  { io, loop, given }: Place,
  work: (client: Client, namespace: string) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const late = new AbortController();
  const timer = loop.timer(loop.now() + PATIENCE_MS, "progress", () => late.abort());
  try {
    const connection = await connectAs(io, argumentsOf(given), { loop });
    try {
      return await work(connection.client.with({ signal: late.signal }), connection.namespace);
    } finally {
      await connection.close();
    }
  } catch {
    return [];
  } finally {
    timer.cancel();
  }
}

/** Options that choose the cluster. */
function argumentsOf(given: GivenOptions): Arguments {
  const { "data-dir": dataDir, name, kubeconfig, context } = given;
  return { operands: {}, rest: [], options: { dataDir, name, kubeconfig, context } };
}

function namesIn(list: unknown): readonly string[] {
  const items = isJsonObject(list) && Array.isArray(list["items"]) ? list["items"] : [];
  return items.flatMap((item) => {
    const metadata = isJsonObject(item) ? item["metadata"] : undefined;
    const name = isJsonObject(metadata) ? metadata["name"] : undefined;
    return typeof name === "string" ? [name] : [];
  });
}
