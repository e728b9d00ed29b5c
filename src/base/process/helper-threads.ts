/**
 * Whose turn it is when there are more threads than processors. V8 compiles and collects garbage on four threads of its own, and while a program is young
 * they all have work: on two processors the main thread, on which everything waits, had to wait for them a fifth of the time.
 */
import { readdirSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";

/** A tenth of the main thread's share, where there is not enough for all: enough that a collection which the main thread waits for comes to its end. */
const BEHIND = 10;

/** The threads that Node.js has begun by now go behind the main thread. Where a system gives threads no priorities of their own nothing happens. */
export function favourMainThread(): void {
  if (process.platform !== "linux") return;
  try {
    const priority = Math.min(getPriority() + BEHIND, constants.priority.PRIORITY_LOW);
    for (const thread of readdirSync("/proc/self/task")) {
      if (Number(thread) !== process.pid) setPriority(Number(thread), priority);
    }
  } catch {
    // One has ended meanwhile, or the system does not let us: those that are left stay as they are.
  }
}
