/**
 * Builds the options object of a CONNECT request (exec, attach, portforward, proxy) for webhooks and policies. It is
 * never stored.
 */
import type { ApiObject } from "../../resources/rules/kind-rules.ts";
import type { Call } from "../request/call.ts";

const FLAGS = ["stdin", "stdout", "stderr", "tty"] as const;

/** Undefined for a subresource that is not a connection, for example `log`. */
export function connectObject({ info, query, resource }: Call): ApiObject | undefined {
  const facts = resource.facts.subresources.find(({ name }) => name === info.subresource);
  const fields = fieldsOf(info, query);
  if (facts === undefined || fields === undefined) return undefined;
  // The options have no metadata, but plugins expect it on every object.
  return { apiVersion: facts.version, kind: facts.kind, metadata: {}, ...fields } as ApiObject;
}

function fieldsOf(info: Call["info"], query: URLSearchParams): object | undefined {
  switch (info.subresource) {
    case "exec":
      return { ...streams(query), command: query.getAll("command") };
    case "attach":
      return streams(query);
    case "portforward": {
      const ports = query.getAll("ports").flatMap((text) => text.split(",").map(Number));
      return ports.length === 0 ? {} : { ports: ports.filter(Number.isInteger) };
    }
    case "proxy":
      return info.rest === "" ? {} : { path: info.rest };
    default:
      return undefined;
  }
}

function streams(query: URLSearchParams): object {
  const container = query.get("container") ?? "";
  const flags = FLAGS.filter((flag) => isSet(query.get(flag)));
  return {
    ...Object.fromEntries(flags.map((flag) => [flag, true])),
    ...(container !== "" && { container }),
  };
}

/** Query flags as upstream parses them: any value except `0` and `false` is true. */
function isSet(text: string | null): boolean {
  return text !== null && text !== "0" && text.toLowerCase() !== "false";
}
