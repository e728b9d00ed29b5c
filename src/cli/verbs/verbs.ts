/** kubectl's verbs for people without kubectl. */
import type { Command } from "../command.ts";
import { applyCommand } from "./apply.ts";
import { deleteCommand } from "./delete.ts";
import { diffCommand } from "./diff.ts";
import { eventsCommand } from "./events.ts";
import { getCommand } from "./get.ts";
import { scaleCommand } from "./scale.ts";
import { waitCommand } from "./wait.ts";

export const VERBS: readonly Command[] = [
  getCommand,
  applyCommand,
  diffCommand,
  deleteCommand,
  scaleCommand,
  waitCommand,
  eventsCommand,
];
