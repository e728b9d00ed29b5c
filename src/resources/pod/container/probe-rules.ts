/** Validates probes and lifecycle hooks: each has exactly one action. */

import type { FieldPath } from "../../../api/errors/field-error.ts";
import type {
  Container,
  ExecAction,
  GRPCAction,
  HTTPGetAction,
  Lifecycle,
  Probe,
  SleepAction,
  TCPSocketAction,
} from "../../../api/generated/types/core-v1.ts";
import { httpHeaderName } from "../../../api/values/names.ts";
import { checkChoice, checkCounts } from "../../rules/value-rules.ts";
import type { PodScope } from "../pod-scope.ts";
import { checkPortReference } from "./port-rules.ts";

const SCHEMES = ["HTTP", "HTTPS"];

export function checkProbes(container: Container, path: FieldPath, scope: PodScope): void {
  const { livenessProbe, readinessProbe, startupProbe } = container;
  if (livenessProbe !== undefined) checkRestartingProbe(livenessProbe, path.child("livenessProbe"), scope);
  if (readinessProbe !== undefined) checkReadinessProbe(readinessProbe, path.child("readinessProbe"), scope);
  if (startupProbe !== undefined) checkRestartingProbe(startupProbe, path.child("startupProbe"), scope);
}

/** Used for liveness and startup probes, whose failure restarts the container. */
function checkRestartingProbe(probe: Probe, path: FieldPath, scope: PodScope): void {
  checkProbe(probe, path, scope);
  if (probe.successThreshold !== 1) {
    scope.errors.invalid(path.child("successThreshold"), probe.successThreshold ?? 0, "must be 1");
  }
}

function checkReadinessProbe(probe: Probe, path: FieldPath, scope: PodScope): void {
  checkProbe(probe, path, scope);
  const seconds = probe.terminationGracePeriodSeconds;
  if (seconds === undefined) return;
  scope.errors.invalid(
    path.child("terminationGracePeriodSeconds"),
    seconds,
    "must not be set for readinessProbes",
  );
}

function checkProbe(probe: Probe, path: FieldPath, scope: PodScope): void {
  checkAction(probe, path, scope);
  const names = [
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
  ] as const;
  checkCounts(probe, names, { path, errors: scope.errors });
  const seconds = probe.terminationGracePeriodSeconds;
  if (seconds !== undefined && seconds <= 0) {
    scope.errors.invalid(path.child("terminationGracePeriodSeconds"), seconds, "must be greater than 0");
  }
}

export function checkLifecycle({ postStart, preStop }: Lifecycle, path: FieldPath, scope: PodScope): void {
  if (postStart !== undefined) checkAction(postStart, path.child("postStart"), scope);
  if (preStop !== undefined) checkAction(preStop, path.child("preStop"), scope);
}

interface Action {
  readonly exec?: ExecAction;
  readonly httpGet?: HTTPGetAction;
  readonly tcpSocket?: TCPSocketAction;
  readonly grpc?: GRPCAction;
  readonly sleep?: SleepAction;
}

const ACTION_TYPES = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] as const;

function checkAction(action: Action, path: FieldPath, scope: PodScope): void {
  const [first, ...others] = ACTION_TYPES.filter((type) => action[type] !== undefined);
  if (first === undefined) return scope.errors.required(path, "must specify a handler type");
  checkActionParts({ [first]: action[first] }, path, scope);
  for (const type of others) {
    scope.errors.forbidden(path.child(type), "may not specify more than 1 handler type");
  }
}

function checkActionParts(action: Action, path: FieldPath, scope: PodScope): void {
  const { errors } = scope;
  const { exec, httpGet, tcpSocket, grpc, sleep } = action;
  if (exec !== undefined && (exec.command ?? []).length === 0) errors.required(path.child("exec", "command"));
  if (httpGet !== undefined) checkHttpGet(httpGet, path.child("httpGet"), scope);
  if (tcpSocket !== undefined) checkPortReference(tcpSocket.port, path.child("tcpSocket", "port"), errors);
  if (grpc !== undefined) checkPortReference(grpc.port, path.child("grpc", "port"), errors);
  if (sleep !== undefined) checkSleep(sleep, path.child("sleep"), scope);
}

function checkHttpGet(action: HTTPGetAction, path: FieldPath, { errors }: PodScope): void {
  if ((action.path ?? "") === "") errors.required(path.child("path"));
  checkPortReference(action.port, path.child("port"), errors);
  checkChoice({ path: path.child("scheme"), value: action.scheme ?? "", among: SCHEMES }, errors);
  for (const { name } of action.httpHeaders ?? []) {
    errors.invalidFor(path.child("httpHeaders"), name, httpHeaderName(name));
  }
}

/** A pre-stop sleep must end within the pod's termination grace period. */
function checkSleep({ seconds }: SleepAction, path: FieldPath, { errors, spec }: PodScope): void {
  const grace = spec.terminationGracePeriodSeconds;
  if (grace === undefined || (seconds >= 0 && seconds <= grace)) return;
  const problem = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
  errors.invalid(path, seconds, problem);
}
