/**
 * Environment of the commands that lead to the programs of pods. The first process of a container keeps it, and its
 * pod can read it: nothing of the agent's own environment is in it.
 */
export function commandEnvironment(): Readonly<Record<string, string>> {
  return { PATH: process.env["PATH"] ?? DEFAULT_PATH };
}

/** Search path of programs without a variable of that name. */
export const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
