/** Turns an error of the operating system into one line that says what to do. */

interface SystemError extends Error {
  readonly code: string;
  readonly syscall?: string;
  readonly path?: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}

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

/** Undefined for errors that did not come from the operating system, and for errors without a known remedy. */
export function findRemedy(error: unknown): string | undefined {
  if (!isSystemError(error)) return undefined;
  const { code, syscall, path, hostname } = error;
  if (syscall === "listen") return listenRemedy(error);
  if (syscall === "getaddrinfo" && hostname !== undefined)
    return `${hostname} cannot be resolved: check the spelling, or give its IP address`;
  const remedy = PATH_REMEDIES[code];
  return path === undefined || remedy === undefined ? undefined : `${path} ${remedy}`;
}

function listenRemedy({ code, address = "", port = 0 }: SystemError): string | undefined {
  const place = address.includes(":") ? `[${address}]:${String(port)}` : `${address}:${String(port)}`;
  if (code === "EADDRINUSE")
    return `${place} is in use already: choose another address with --listen, or stop the process that listens there`;
  if (code === "EADDRNOTAVAIL")
    return `${address} is not an address of this machine: choose another with --listen`;
  if (code === "EACCES") return `${place} is not permitted: choose a port above 1023 with --listen`;
  return undefined;
}

function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error && "code" in error && typeof error.code === "string" && "syscall" in error;
}
