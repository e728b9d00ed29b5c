/** The table of all commands, in the order of the help. */
import { apiserverCommand } from "./apiserver.ts";
import { backupCommand } from "./backup.ts";
import type { Command } from "./command.ts";
import { completionCommand } from "./completion/completion.ts";
import { agentCommand, controllersCommand, schedulerCommand } from "./components.ts";
import { crdCommand } from "./crd.ts";
import { demoCommand } from "./demo/demo.ts";
import { diffCommand } from "./diff.ts";
import { downCommand } from "./down.ts";
import { driftCommand } from "./drift.ts";
import { listCommand } from "./list.ts";
import { logsCommand } from "./logs.ts";
import { newCommand } from "./new.ts";
import { rbacCommand } from "./rbac.ts";
import { replayCommand } from "./replay.ts";
import { statusCommand } from "./status.ts";
import { timelineCommand } from "./timeline.ts";
import { topCommand } from "./top/top.ts";
import { upCommand } from "./up.ts";
import { VERBS } from "./verbs/verbs.ts";
import { versionCommand } from "./version.ts";
import { watchCommand } from "./watch/watch.ts";
import { whyCommand } from "./why.ts";

export const COMMANDS: readonly Command[] = [
  upCommand,
  statusCommand,
  logsCommand,
  downCommand,
  listCommand,
  apiserverCommand,
  controllersCommand,
  schedulerCommand,
  agentCommand,
  backupCommand,
  ...VERBS,
  newCommand,
  crdCommand,
  rbacCommand,
  completionCommand(() => COMMANDS),
  whyCommand,
  timelineCommand,
  diffCommand,
  replayCommand,
  driftCommand,
  topCommand,
  watchCommand,
  demoCommand,
  versionCommand,
];
