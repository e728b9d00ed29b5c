/** What the operating system refused, as one line for people that says what to do. */

interface SystemError extends Error {
  readonly code: string;
  readonly syscall?: string;
  readonly path?: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}

/** Of a path that could not be read, made or written. */
const PATH_REMEDIES: Readonly<Record<string, string>> = {
  EACCES: "is not permitted: choose another place, or change its owner or mode",
  EPERM: "is not permitted: choose another place, or change its owner or mode",
  EROFS: "lies on a file system that cannot be written: choose another place",
  ENOENT: "is not there, or its directory is not: check the path",
  EEXIST: "is there already, and is no directory: choose another place, or move it away",
  EISDIR: "is a directory where a file is needed: check the path",
  ENOTDIR: "has a file where a directory is needed: choose another place, or move the file away",
  ENOSPC: "lies on a disk that is full: make room, or choose another place",
};

/** Undefined for what is no error of the system, or speaks for itself. */
export function findRemedy(error: unknown): string | undefined {
  if (!isSystemError(error)) return undefined;
  const { code, syscall, path, hostname } = error;
  if (syscall === "listen") return listenRemedy(error);
  if (syscall === "getaddrinfo" && hostname !== undefined)
    return `${hostname} has no address: check how it is written, or give the address itself`;
  const remedy = PATH_REMEDIES[code];
  return path === undefined || remedy === undefined ? undefined : `${path} ${remedy}`;
}

function listenRemedy({ code, address = "", port = 0 }: SystemError): string | undefined {
  const place = address.includes(":") ? `[${address}]:${String(port)}` : `${address}:${String(port)}`;
  if (code === "EADDRINUSE")
    return `${place} is in use already: choose another address with --listen, or end what listens there`;
  if (code === "EADDRNOTAVAIL")
    return `${address} is no address of this machine: choose another with --listen`;
  if (code === "EACCES") return `${place} is not permitted: choose a port above 1023 with --listen`;
  return undefined;
}

function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error && "code" in error && typeof error.code === "string" && "syscall" in error;
}
