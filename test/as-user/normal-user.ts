/** By convention the user `nobody`. */
export const NOBODY = 65_534;

/** Gives up the rights of root for the rest of the process. Returns whether there were any. */
export function becomeNormalUser(): boolean {
  if (process.geteuid?.() !== 0) return false;
  process.setgroups?.([]);
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
  return true;
}
