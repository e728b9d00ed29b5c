/** Text of a cluster's events for people. Pure. */
import type {
  ClusterEvent,
  ClusterSummary,
  PhaseEvent,
  ReadyEvent,
  StoppedEvent,
} from "../cluster/cluster-event.ts";
import { CLUSTER_NAME } from "../cluster/kubeconfig/kubeconfig.ts";
import { componentLogsFolder } from "../cluster/logs/component-logs.ts";
import { KUBERNETES_VERSION, VERSION } from "../cluster/process/version.ts";
import { counted, grouped } from "./count-text.ts";
import { KUBECTL_PAGE } from "./find-kubectl.ts";

/** Facts about the user's shell. */
export interface Shell {
  readonly homeDir: string;
  /** Words with which the user calls this program: `setpoint`. */
  readonly call: string;
  readonly hasKubectl: boolean;
  /** Path of a manifest with a Deployment; undefined when there is none. */
  readonly demoManifest: string | undefined;
  /** `$KUBECONFIG`; undefined when it is unset. */
  readonly kubeconfig: string | undefined;
  /** Makes the text green, or leaves it. */
  readonly paint: (text: string) => string;
}

/** Whether the cluster has controllers and nodes, and where its process runs. */
export interface ClusterForm {
  readonly isWhole: boolean;
  readonly isInBackground: boolean;
  /** Whether pods without a RuntimeClass are programs of this machine. */
  readonly runsPrograms: boolean;
}

export function eventText(event: ClusterEvent, form: ClusterForm, shell: Shell): string {
  switch (event.event) {
    case "phase":
      return phaseText(event, shell);
    case "ready":
      return readyText(event, form, shell);
    case "stopped":
      return stoppedText(event);
  }
}

function stoppedText({ processPods }: StoppedEvent): string {
  if (processPods === undefined) return "Setpoint has stopped.\n";
  return processPods === "ended"
    ? "Setpoint has stopped, and ended its process pods.\n"
    : "Setpoint has stopped. Its process pods run on, and the next start takes them over.\n";
}

/** Text of the phase that follows; shown while it runs. */
export function nextPhaseText(event: ClusterEvent, { isWhole }: ClusterForm): string {
  if (event.event !== "phase") return "";
  if (event.phase === "store") return "… starting the API";
  return event.phase === "api" && isWhole ? "… waiting for the nodes" : "";
}

export function summaryText({ nodes, pods, failing, passesPerSecond }: ClusterSummary): string {
  const parts = [
    counted(nodes, "node"),
    counted(pods, "pod"),
    `${grouped(failing)} not converged`,
    `${grouped(passesPerSecond)} passes/s`,
  ];
  return `● ${parts.join(" · ")}`;
}

function phaseText(event: PhaseEvent, shell: Shell): string {
  const seconds = (event.durationMs / 1000).toFixed(1);
  const [label, detail] = phaseWords(event, shell);
  return `${shell.paint("✔")} ${label.padEnd(14)} ${seconds.padStart(5)} s   ${detail}\n`;
}

function phaseWords(event: PhaseEvent, shell: Shell): readonly [label: string, detail: string] {
  switch (event.phase) {
    case "store":
      return [
        "store opened",
        `${storePlace(event, shell)} (${event.store}, ${counted(event.objects, "object")})`,
      ];
    case "api":
      return ["API serving", event.server];
    case "nodes":
      if (event.nodes === 0) return ["no nodes", "pods stay Pending"];
      return [`${counted(event.nodes, "node")} ready`, nodesText(event)];
  }
}

function nodesText({ nodes, hasMachine }: PhaseEvent & { readonly phase: "nodes" }): string {
  if (!hasMachine) return "simulated";
  return nodes === 1 ? "this machine" : `${grouped(nodes - 1)} simulated, and this machine`;
}

function storePlace(
  { store, dataDir }: PhaseEvent & { readonly phase: "store" },
  { homeDir }: Shell,
): string {
  return store === "file" ? shortPath(dataDir, homeDir) : `keys in ${shortPath(dataDir, homeDir)}`;
}

function readyText(event: ReadyEvent, form: ClusterForm, shell: Shell): string {
  const { call, homeDir } = shell;
  const flags = nameFlags(event);
  const place = form.isInBackground
    ? `It runs in the background · ${call} down${flags} ends it`
    : "Ctrl-C ends it";
  const isMovable = form.isWhole && !form.isInBackground;
  const background = isMovable ? [`${call} up -d${flags} runs it in the background`] : [];
  const logs = `logs in ${shortPath(componentLogsFolder(event.dataDir), homeDir)}`;
  return [
    `Setpoint ${VERSION} is ready · Kubernetes ${KUBERNETES_VERSION} · ${contextText(event, homeDir)}`,
    ...(event.contextProblem === undefined
      ? []
      : ["", `The kubeconfig was left alone: ${event.contextProblem}`]),
    ...(shell.hasKubectl ? [] : ["", `kubectl is not on PATH: ${KUBECTL_PAGE} says how to get it.`]),
    "",
    ...commands(event, form, shell).map((line) => `  ${line}`),
    "",
    [place, ...background, logs].join(" · "),
    "",
  ].join("\n");
}

function contextText({ context, kubeconfig }: ReadyEvent, homeDir: string): string {
  if (context === undefined) return `kubeconfig ${shortPath(kubeconfig, homeDir)}`;
  return `context "${context.name}" in ${shortPath(context.file, homeDir)}`;
}

function commands(event: ReadyEvent, form: ClusterForm, shell: Shell): readonly string[] {
  const { kubectl, setup } = kubectlCall(event, shell);
  const flags = nameFlags(event);
  const status = `${shell.call} status${flags}`;
  if (!shell.hasKubectl)
    return [
      `${shell.call} apply -f ${shell.demoManifest ?? "FILE"}${flags}`,
      `${shell.call} get pods${flags}`,
      status,
    ];
  const first = form.isWhole ? deploys(event, { kubectl, form, shell }) : [`${kubectl} get namespaces`];
  return [...setup, ...first, status];
}

/** Without nodes no pod would run, so the second command adds some. A program of the machine needs no image. */
function deploys(
  { nodes, kubeconfig }: ReadyEvent,
  { kubectl, form, shell }: { readonly kubectl: string; readonly form: ClusterForm; readonly shell: Shell },
): readonly string[] {
  const program = form.runsPrograms
    ? "--image=none --replicas=3 -- sleep 1000"
    : "--image=nginx --replicas=3";
  const create = `${kubectl} create deployment demo ${program}`;
  const agent = `${shell.call} agent --kubeconfig ${shortPath(kubeconfig, shell.homeDir)}`;
  return [create, nodes === 0 ? agent : `${kubectl} delete pod -l app=demo`];
}

/** Flags with which other commands find the cluster. */
function nameFlags({ name }: ReadyEvent): string {
  return name === CLUSTER_NAME ? "" : ` --name ${name}`;
}

/** kubectl with the flags it needs to reach this cluster, and the command that must precede it. */
function kubectlCall(
  { context, kubeconfig }: ReadyEvent,
  shell: Shell,
): { readonly kubectl: string; readonly setup: readonly string[] } {
  const isRead = shell.kubeconfig === undefined || shell.kubeconfig.split(":").includes(context?.file ?? "");
  if (context === undefined || !isRead)
    return { kubectl: "kubectl", setup: [`export KUBECONFIG=${shortPath(kubeconfig, shell.homeDir)}`] };
  return { kubectl: context.isCurrent ? "kubectl" : `kubectl --context ${context.name}`, setup: [] };
}

/** The path with `~` for the home folder, as shells read it. */
export function shortPath(path: string, homeDir: string): string {
  return path === homeDir || path.startsWith(`${homeDir}/`) ? `~${path.slice(homeDir.length)}` : path;
}
