/** Environment variables that describe Services, in the form of the kubelet. Pure. */
import type { Service, ServicePort } from "../../api/generated/types/core-v1.ts";

/** Services with a cluster address, in the order of their names. */
export function serviceVariables(services: readonly Service[]): ReadonlyMap<string, string> {
  const variables = new Map<string, string>();
  const sorted = services.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  for (const { metadata, spec } of sorted) {
    const { clusterIP: host = "", ports = [] } = spec;
    const [first] = ports;
    if (host === "" || host === "None" || first === undefined) continue;
    const name = variableName(metadata.name);
    variables.set(`${name}_SERVICE_HOST`, host);
    variables.set(`${name}_SERVICE_PORT`, String(first.port));
    for (const port of ports)
      if (port.name !== undefined)
        variables.set(`${name}_SERVICE_PORT_${variableName(port.name)}`, String(port.port));
    variables.set(`${name}_PORT`, urlOf(host, first));
    for (const port of ports) {
      const { protocol = "TCP", port: number } = port;
      const prefix = `${name}_PORT_${String(number)}_${protocol}`;
      variables.set(prefix, urlOf(host, port));
      variables.set(`${prefix}_PROTO`, protocol.toLowerCase());
      variables.set(`${prefix}_PORT`, String(number));
      variables.set(`${prefix}_ADDR`, host);
    }
  }
  return variables;
}

function urlOf(host: string, { protocol = "TCP", port }: ServicePort): string {
  const shown = host.includes(":") ? `[${host}]` : host;
  return `${protocol.toLowerCase()}://${shown}:${String(port)}`;
}

function variableName(text: string): string {
  return text.toUpperCase().replaceAll("-", "_");
}
