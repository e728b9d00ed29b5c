/** Names of the loops that run together. */
import type { Controller } from "../controller/controller.ts";
import type { Routine } from "./routine.ts";

interface Loops {
  readonly controllers?: readonly Controller[];
  readonly routines?: readonly Routine[];
}

/** Two controllers or routines of one name would write as one field manager and undo each other's work. */
export function refuseDuplicateNames({ controllers = [], routines = [] }: Loops): void {
  const names = new Set<string>();
  for (const { name } of [...controllers.map(({ definition }) => definition), ...routines]) {
    if (names.has(name)) throw new Error(`two loops are named ${name}: give each a name of its own`);
    names.add(name);
  }
}
