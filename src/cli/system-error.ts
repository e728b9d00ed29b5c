/** Turns an error of the operating system into one line that says what to do. */

import { isApiError } from "../api/errors/api-error.ts";
import { findPathRemedy } from "../base/process/path-remedy.ts";

interface SystemError extends Error {
  readonly code: string;
  readonly syscall?: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}

/** Undefined for errors that did not come from the operating system, and for errors without a known remedy. */
export function findRemedy(error: unknown): string | undefined {
  if (isApiError(error, "ServiceUnavailable") && isSystemError(error.cause))
    return error.cause.code === "ECONNREFUSED"
      ? `${error.message}: no cluster listens there; setpoint list shows those of this machine`
      : undefined;
  if (!isSystemError(error)) return undefined;
  const { syscall, hostname } = error;
  if (syscall === "listen") return listenRemedy(error);
  if (syscall === "getaddrinfo" && hostname !== undefined)
    return `${hostname} cannot be resolved: check the spelling, or give its IP address`;
  return findPathRemedy(error);
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
