/** Defaults of a container's fields, in pods and in templates. */

import type {
  Container,
  EnvVar,
  EphemeralContainer,
  HTTPGetAction,
  Lifecycle,
  Probe,
} from "../../../api/generated/types/core-v1.ts";
import type { Draft } from "../../rules/kind-rules.ts";
import { defaultPullPolicy } from "./pull-policy.ts";

export function containerDefaults(container: Draft<Container> | Draft<EphemeralContainer>): void {
  container.imagePullPolicy ??= defaultPullPolicy(container.image ?? "");
  container.terminationMessagePath ??= "/dev/termination-log";
  container.terminationMessagePolicy ??= "File";
  for (const port of container.ports ?? []) port.protocol ??= "TCP";
  for (const variable of container.env ?? []) envDefaults(variable);
  const probes = [container.livenessProbe, container.readinessProbe, container.startupProbe];
  for (const probe of probes.filter((given) => given !== undefined)) probeDefaults(probe);
  if (container.lifecycle !== undefined) lifecycleDefaults(container.lifecycle);
}

function envDefaults({ valueFrom }: Draft<EnvVar>): void {
  if (valueFrom?.fieldRef !== undefined) valueFrom.fieldRef.apiVersion ??= "v1";
  if (valueFrom?.fileKeyRef !== undefined) valueFrom.fileKeyRef.optional ??= false;
}

/** Zero is not a valid time for a probe, so that an absent time gets a default. */
function probeDefaults(probe: Draft<Probe>): void {
  probe.timeoutSeconds ??= 1;
  probe.periodSeconds ??= 10;
  probe.successThreshold ??= 1;
  probe.failureThreshold ??= 3;
  if (probe.httpGet !== undefined) httpGetDefaults(probe.httpGet);
  if (probe.grpc !== undefined) probe.grpc.service ??= "";
}

function lifecycleDefaults({ postStart, preStop }: Draft<Lifecycle>): void {
  if (postStart?.httpGet !== undefined) httpGetDefaults(postStart.httpGet);
  if (preStop?.httpGet !== undefined) httpGetDefaults(preStop.httpGet);
}

function httpGetDefaults(action: Draft<HTTPGetAction>): void {
  action.path ??= "/";
  action.scheme ??= "HTTP";
}
