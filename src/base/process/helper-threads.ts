/**
 * Lowers the priority of Node's own threads. V8 compiles and collects garbage on four threads, which are all busy
 * while a program is young. On two processors, the main thread had to wait for them a fifth of the time.
 */
import { readdirSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";

/**
 * Nice value that leaves a tenth of the main thread's share under contention. That suffices for garbage collections
 * that the main thread waits for.
 */
const BEHIND = 10;

/**
 * Lowers the priority of the threads that Node.js has started so far. No-op on systems without priorities for
 * threads.
 */
export function lowerHelperThreadPriority(): void {
  if (process.platform !== "linux") return;
  try {
    const priority = Math.min(getPriority() + BEHIND, constants.priority.PRIORITY_LOW);
    for (const thread of readdirSync("/proc/self/task")) {
      if (Number(thread) !== process.pid) setPriority(Number(thread), priority);
    }
  } catch {
    // A thread has ended, or the system forbids it: the remaining threads keep their priority.
  }
}
