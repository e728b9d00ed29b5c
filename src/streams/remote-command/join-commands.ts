/** Joins a client's command with a node's, where the two speak different protocols. */
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { resultText } from "./command-result.ts";
import { readResultText } from "./command-streams.ts";
import type { CommandStreams } from "./command-streams.ts";

/** Resolves when both have closed. Both protocols write results alike. Each stream that ends is ended on the other side; a lost side closes the other. */
export async function joinCommands(client: CommandStreams, node: CommandStreams): Promise<void> {
  void client.closed.then(() => node.destroy());
  const inputs = ["stdin", "resize"] as const;
  for (const name of inputs) void flow(client.streams.get(name), node.streams.get(name));
  for (const name of inputs) node.streams.get(name)?.resume();
  const outputs = ["stdout", "stderr"] as const;
  const [text] = await Promise.all([
    readResultText(node),
    ...outputs.map((name) => flow(node.streams.get(name), client.streams.get(name))),
  ]);
  client.streams.get("error")?.end(text === "" ? lostText(node, client) : text);
  client.close();
  node.close();
  await Promise.all([client.closed, node.closed]);
}

/** Without a result, a client would take the end of the connection for success. */
function lostText(node: CommandStreams, client: CommandStreams): string {
  if (!node.protocol.hasStatus) return "";
  return resultText({ type: "failed", message: "the connection to the node was lost" }, client.protocol);
}

/** An error closes its own streams; the other side sees their end. */
async function flow(from: Duplex | undefined, to: Duplex | undefined): Promise<void> {
  if (from === undefined || to === undefined) return;
  await pipeline(from, to).catch(() => undefined);
}
