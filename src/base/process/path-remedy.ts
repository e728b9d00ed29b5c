/** Turns an error about a path into one line that says what to do. */

/** Remedies for a path that could not be read, created or written. */
const PATH_REMEDIES: Readonly<Record<string, string>> = {
  EACCES: "is not permitted: choose another place, or change its owner or mode",
  EPERM: "is not permitted: choose another place, or change its owner or mode",
  EROFS: "is on a read-only file system: choose another place",
  ENOENT: "does not exist, or its directory does not: check the path",
  EEXIST: "exists and is not a directory: choose another place, or move it away",
  EISDIR: "is a directory where a file is needed: check the path",
  ENOTDIR: "has a file where a directory is needed: choose another place, or move the file away",
  ENOSPC: "is on a full disk: free some space, or choose another place",
};

/** Undefined for errors that are not about a path, and for errors without a known remedy. */
export function findPathRemedy(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || !("path" in error)) return undefined;
  const remedy = PATH_REMEDIES[String(error.code)];
  return remedy === undefined || typeof error.path !== "string" ? undefined : `${error.path} ${remedy}`;
}
