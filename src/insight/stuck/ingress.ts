/** An Ingress names a Service or a port that does not exist. */
import type { Service } from "../../api/generated/types/core-v1.ts";
import { Ingress } from "../../api/generated/types/networking-v1.ts";
import { nearestOf } from "../text/nearest-text.ts";
import type { Situation, StuckRule } from "./situation.ts";
import { asKind, inNamespace, kubectlName } from "./situation.ts";

export const ingressRule: StuckRule = (situation) => {
  const ingress = asKind(situation, Ingress);
  if (ingress === undefined) return undefined;
  const { namespace = "" } = ingress.metadata;
  for (const { name, port } of backendsOf(ingress)) {
    const service = situation.services.find(({ metadata }) => metadata.name === name);
    if (service === undefined) return missingService(situation, namespace, name);
    if (port === undefined || hasPort(service, port)) continue;
    const ports = (service.spec.ports ?? []).map((each) => each.name ?? String(each.port));
    return {
      blockedBy: `Service ${namespace}/${name} has no port ${String(port)}; its ports: ${ports.join(", ")}`,
      unblock: [{ command: `kubectl edit ${kubectlName(situation)}`, effect: "name one of its ports" }],
    };
  }
  return undefined;
};

interface Backend {
  readonly name: string;
  readonly port: string | number | undefined;
}

function backendsOf({ spec }: Ingress): readonly Backend[] {
  const paths = (spec.rules ?? []).flatMap(({ http }) => http?.paths ?? []).map(({ backend }) => backend);
  return [spec.defaultBackend, ...paths].flatMap((backend) => {
    const { service } = backend ?? {};
    if (service === undefined) return [];
    return [{ name: service.name, port: service.port?.name ?? service.port?.number }];
  });
}

function hasPort({ spec }: Service, wanted: string | number): boolean {
  return (spec.ports ?? []).some(({ name, port }) => wanted === name || wanted === port);
}

function missingService(situation: Situation, namespace: string, name: string): ReturnType<StuckRule> {
  const nearest = nearestOf(
    name,
    situation.services.map(({ metadata }) => metadata.name),
  );
  const meant = nearest === undefined ? "" : ` (there is a Service ${nearest})`;
  return {
    blockedBy: `Service ${namespace}/${name} does not exist, and the Ingress sends requests to it${meant}`,
    unblock: [
      { command: `kubectl edit ${kubectlName(situation)}`, effect: "name a Service that exists" },
      {
        command: `kubectl create service clusterip ${name} --tcp=80${inNamespace(namespace)}`,
        effect: "create it, for pods with the label app",
      },
    ],
  };
}
