/** Advice for a program that could not listen on its port, on a node whose pods share the network of the machine. */
import { SHARED_NETWORK_HELP } from "./isolation.ts";

/** As programs of C, Go, Java, Node.js, Python and Ruby say it. */
const IN_USE = /\bEADDRINUSE\b|address already in use/i;
/** Ports below 1024 are for root. */
const NOT_PERMITTED =
  /\b(?:bind|listen)\b.*(?:\bEACCES\b|permission denied)|\bEACCES\b.*\b(?:bind|listen)\b/i;

/** `output` is the last one; `ports` maps ports of the pod to those of the machine. Undefined if the output tells of no failed bind. */
export function findListenAdvice(output: string, ports: ReadonlyMap<number, number>): string | undefined {
  if (!IN_USE.test(output) && !NOT_PERMITTED.test(output)) return undefined;
  return (
    "could not listen on its port: pods on this node share the machine's network. " +
    `${remedyOf(ports)}, or ${SHARED_NETWORK_HELP}`
  );
}

function remedyOf(ports: ReadonlyMap<number, number>): string {
  if (ports.size === 0) return "Declare the port under ports, and let the program listen on $PORT";
  const pairs = [...ports].map(([port, own]) => `${String(own)} for ${String(port)}`);
  return `Let the program listen on $PORT, a free port (${pairs.join(", ")})`;
}
