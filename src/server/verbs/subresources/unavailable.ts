/** Answers for the connections that only a node agent provides: logs, exec, attach, port forwarding and proxies. There is no agent yet. */
import { notFound, serviceUnavailable } from "../../../api/errors/api-error.ts";
import type { Pod } from "../../../api/generated/types/core-v1.ts";
import type { Store } from "../../../store/store.ts";
import type { Admission } from "../../admission/admission.ts";
import { callPass } from "../../admission/admission.ts";
import { connectObject } from "../../admission/connect-object.ts";
import type { StoredResource } from "../../objects/registry.ts";
import { StoredObject } from "../../objects/stored-object.ts";
import { keyOf } from "../../objects/versions.ts";
import type { Call } from "../../request/call.ts";
import { groupResource } from "../../write/object-writer.ts";
import type { Verb } from "../verb.ts";
import { checkConnection, checkLogOptions } from "./pod-connection.ts";

interface ConnectParts {
  readonly store: Store;
  readonly admission: Pick<Admission, "pass">;
}

export const unavailable: Verb = async (call, verbParts: ConnectParts) => {
  const { resource, info } = call;
  const { store } = verbParts;
  await admitConnection(call, verbParts);
  const pod = isOfPod(call) ? await readyPod(call, verbParts) : undefined;
  // As upstream, the log of a pod without a node is empty.
  if (info.subresource === "log" && pod?.spec.nodeName === undefined) return { type: "nothing" };
  // A proxied service may be named as `https:web:443`.
  const [first = "", second] = info.name.split(":");
  const name =
    second === undefined ? first : second === "" ? first : info.name.replace(/^https?:/, "").split(":", 1)[0];
  const view = await store.fresh();
  const isThere = [info.name, first, second, name].some(
    (each) =>
      each !== undefined && each !== "" && view.get(keyOf(resource, info.namespace, each)) !== undefined,
  );
  if (!isThere) throw notFound(groupResource(resource), info.name);
  throw serviceUnavailable(
    `${info.resource}/${info.subresource} needs an agent on the node, and no agent is connected to this server`,
  );
};

const OF_PODS: ReadonlySet<string> = new Set(["log", "exec", "attach", "portforward"]);

function isOfPod({ info, resource }: Call<StoredResource>): boolean {
  return resource.facts.name === "pods" && resource.facts.group === "" && OF_PODS.has(info.subresource);
}

async function readyPod(
  { info, query, resource }: Call<StoredResource>,
  { store }: ConnectParts,
): Promise<Pod> {
  const { name, namespace, subresource } = info;
  if (subresource === "log") checkLogOptions(name, query);
  const entry = (await store.fresh()).get(keyOf(resource, namespace, name));
  if (entry === undefined) throw notFound(groupResource(resource), name);
  const pod = StoredObject.of(entry).object as Pod;
  checkConnection(pod, subresource, query);
  return pod;
}

/** Asks the admission plugins for connections first. As upstream, they run before the server checks that the target exists. */
export async function admitConnection(call: Call<StoredResource>, verbParts: ConnectParts): Promise<void> {
  const object = connectObject(call);
  if (object === undefined) return;
  await callPass({ call, verbParts }, "CONNECT")?.admit(object);
}
