/** Events about a container. Reasons and messages equal the kubelet's. */
import type { Container, Pod } from "../../api/generated/types/core-v1.ts";
import { formatDuration } from "../../api/values/time.ts";
import type { RecordedEvent } from "../../runtime/events/recorded-event.ts";
import type { ContainerReport } from "../runtime-handler.ts";
import { startDelayMs, type ContainerRecord } from "./container-record.ts";
import { CONFIG_ERROR, type PodAction } from "./pod-plan.ts";
import type { RoleContainer } from "./restart-policy.ts";

type EventText = Pick<RecordedEvent, "type" | "reason" | "message">;

const FIELDS = {
  init: "spec.initContainers",
  sidecar: "spec.initContainers",
  main: "spec.containers",
  ephemeral: "spec.ephemeralContainers",
};

/** The field path of the container in its Events. */
export function fieldPathOf({ role, container }: RoleContainer): string {
  return `${FIELDS[role]}{${container.name}}`;
}

export function actionEvents(action: PodAction): readonly EventText[] {
  const image = quoted(action.container);
  switch (action.type) {
    case "pull":
      return [normal("Pulling", `Pulling image ${image}`)];
    case "refuse":
      return refusalEvents(action);
    case "lookup":
    case "start": {
      const text = `Container image ${image} already present on machine and can be accessed by the pod`;
      return action.isImageNew ? [] : [normal("Pulled", text)];
    }
    case "stop":
      return [normal("Killing", action.message)];
    case "inspect":
    case "resize":
    case "reset":
    case "probe":
      return [];
  }
}

function refusalEvents({ reason, message }: Extract<PodAction, { type: "refuse" }>): readonly EventText[] {
  if (reason === CONFIG_ERROR) return [warning("Failed", `Error: ${message}`)];
  const first = reason === "InvalidImageName" ? "InspectFailed" : reason;
  return [warning(first, message), warning("Failed", `Error: ${reason}`)];
}

export function reportEvents(container: Container, report: ContainerReport): readonly EventText[] {
  const image = quoted(container);
  switch (report.type) {
    case "pulled": {
      const took = formatDuration(BigInt(Math.round(report.tookMs)) * 1_000_000n);
      const size = `Image size: ${report.sizeBytes} bytes.`;
      const text = `Successfully pulled image ${image} in ${took} (${took} including waiting). ${size}`;
      return [normal("Pulled", text)];
    }
    case "pull-failed":
      return [
        warning("Failed", `Failed to pull image ${image}: ${report.message}`),
        warning("Failed", "Error: ErrImagePull"),
      ];
    case "started":
      return [normal("Created", "Container created"), normal("Started", "Container started")];
    case "probed": {
      const probe = `${report.probe[0]?.toUpperCase() ?? ""}${report.probe.slice(1)}`;
      return report.result === "success"
        ? []
        : [warning("Unhealthy", `${probe} probe failed: ${report.message}`)];
    }
    case "start-failed":
      return [warning("Failed", `Error: ${report.message}`)];
    case "exited": {
      const { name } = container;
      return report.advice === undefined ? [] : [warning("Failed", `Container ${name} ${report.advice}`)];
    }
    case "inspected":
      return [];
  }
}

/** Events of a container that ended and will restart. */
export function crashEvents(pod: Pod, { name }: Container, record: ContainerRecord): readonly EventText[] {
  if (startDelayMs(record) <= 0) return [];
  const { name: podName, namespace = "", uid } = pod.metadata;
  const place = `${podName}_${namespace}(${uid})`;
  return [warning("BackOff", `Back-off restarting failed container ${name} in pod ${place}`)];
}

export function pullBackOffEvents(container: Container): readonly EventText[] {
  return [
    normal("BackOff", `Back-off pulling image ${quoted(container)}`),
    warning("Failed", "Error: ImagePullBackOff"),
  ];
}

function quoted({ image = "" }: Container): string {
  return JSON.stringify(image);
}

function normal(reason: string, message: string): EventText {
  return { type: "Normal", reason, message };
}

function warning(reason: string, message: string): EventText {
  return { type: "Warning", reason, message };
}
