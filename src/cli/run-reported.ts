/** Runs a cluster in this process and shows its events. */
import { styleText } from "node:util";
import { silentLog } from "../base/log/log.ts";
import { createRealLoop } from "../base/loop/real/real-loop.ts";
import { createMetrics } from "../base/metrics/prom-metrics.ts";
import type { ClusterEvent } from "../cluster/cluster-event.ts";
import { runCluster } from "../cluster/cluster.ts";
import { ComponentLogs } from "../cluster/logs/component-logs.ts";
import type { ClusterOptions } from "../cluster/options.ts";
import { LOG_LEVELS } from "./cluster-options.ts";
import { findText, type Arguments, type Io } from "./command.ts";
import { eventText, nextPhaseText, summaryText, type ClusterForm, type Shell } from "./event-text.ts";
import { hasKubectl } from "./find-kubectl.ts";
import { findDemoManifest, programCall } from "./program-call.ts";
import { runsPrograms } from "./runtime-options.ts";

/** Runs a cluster until the program's signal aborts, and prints its lifecycle events. */
export async function runReported(options: ClusterOptions, io: Io, args: Arguments): Promise<void> {
  const isQuiet = args.options["quiet"] === true;
  const log = isQuiet ? silentLog : io.log;
  const metrics = createMetrics();
  const logs = new ComponentLogs({
    dataDir: options.dataDir,
    level: LOG_LEVELS.find((level) => level === findText(args, "logLevel")) ?? "info",
    fallback: log,
    // The cluster's loop logs too, so the logs need a loop of their own.
    loop: createRealLoop({ name: "logs" }),
  });
  const shell = shellOf(io);
  const form = {
    isWhole: options.loops === "all",
    isInBackground: false,
    runsPrograms: runsPrograms(args),
  };
  const isLive = io.screen !== undefined && !isQuiet && args.options["json"] !== true;
  if (isLive) io.screen?.live("… opening the store");
  await runCluster(options, {
    // Only into the file: a slow step is a fact about the machine that a user at the terminal cannot change.
    loop: createRealLoop({ name: "cluster", log: logs.of("setpoint"), metrics }),
    log,
    logs,
    metrics,
    signal: io.signal,
    report: reporter(io, args, { form, shell }),
    ...(isLive && { showSummary: (summary) => io.screen?.live(summaryText(summary)) }),
  });
}

/** Prints events as the options ask: JSON lines, text, or nothing. */
export function reporter(
  io: Io,
  args: Arguments,
  { form, shell }: { readonly form: ClusterForm; readonly shell: Shell },
): (event: ClusterEvent) => void {
  if (args.options["json"] === true) return (event) => io.stdout(`${JSON.stringify(event)}\n`);
  if (args.options["quiet"] === true) return () => undefined;
  return (event) => {
    io.screen?.live("");
    io.stdout(eventText(event, form, shell), "raw");
    io.screen?.live(nextPhaseText(event, form));
  };
}

export function shellOf(io: Io): Shell {
  const green = (text: string): string => styleText("green", text, { validateStream: false });
  return {
    homeDir: io.homeDir,
    call: programCall(io),
    hasKubectl: hasKubectl(io.env),
    demoManifest: findDemoManifest(io),
    kubeconfig: io.env["KUBECONFIG"] || undefined,
    paint: io.screen?.hasColours === true ? green : (text) => text,
  };
}
