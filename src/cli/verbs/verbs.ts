/** kubectl's verbs for people without kubectl. */
import type { Command } from "../command.ts";
import { applyCommand } from "./apply.ts";
import { deleteCommand } from "./delete.ts";
import { eventsCommand } from "./events.ts";
import { execCommand } from "./exec.ts";
import { getCommand } from "./get.ts";
import { portForwardCommand } from "./port-forward.ts";
import { scaleCommand } from "./scale.ts";
import { waitCommand } from "./wait.ts";

export const VERBS: readonly Command[] = [
  getCommand,
  applyCommand,
  deleteCommand,
  scaleCommand,
  execCommand,
  portForwardCommand,
  waitCommand,
  eventsCommand,
];
