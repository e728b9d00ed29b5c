/** Decides whether a request may use the kubelet's HTTP API. */
import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import type { Caller, CallerReviews } from "./caller-reviews.ts";
import { textReply, type KubeletReply } from "./kubelet-reply.ts";
import { neededRights, type KubeletRoute } from "./kubelet-route.ts";

/** The refusal of a request; undefined for a request that is allowed. */
export type CallerGate = (
  request: IncomingMessage,
  node: string,
  route: KubeletRoute | undefined,
) => Promise<KubeletReply | undefined>;

/**
 * Callers present a client certificate of the cluster's CA or a bearer token, and need rights on `nodes`. The API
 * server decides about both. An unreachable API server refuses every caller without cached decisions.
 */
export function reviewingGate(reviews: CallerReviews): CallerGate {
  return async (request, node, route) => {
    const caller = await findCaller(request, reviews);
    if (caller === undefined) return textReply(401, "Unauthorized");
    const rights = neededRights(request.method ?? "", route);
    if (await reviews.isAllowed(caller, node, rights)) return undefined;
    const { verb, subresources } = rights;
    const what = `user=${caller.name}, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(" ")}]`;
    return textReply(403, `Forbidden (${what})`);
  };
}

async function findCaller(
  { socket, headers }: IncomingMessage,
  reviews: CallerReviews,
): Promise<Caller | undefined> {
  const certified = certifiedCaller(socket as TLSSocket);
  if (certified !== undefined) return certified;
  const token = /^bearer +([^ ,]+)$/i.exec(headers.authorization ?? "")?.[1];
  return token === undefined ? undefined : reviews.findCaller(token);
}

/** The user in a verified client certificate: its common name, with its organizations as groups. */
function certifiedCaller(socket: TLSSocket): Caller | undefined {
  if (!socket.authorized) return undefined;
  const subject: Readonly<Record<string, unknown>> = { ...socket.getPeerCertificate().subject };
  const name = subject["CN"];
  if (typeof name !== "string" || name === "") return undefined;
  return { name, groups: [subject["O"] ?? []].flat().filter((group) => typeof group === "string") };
}
