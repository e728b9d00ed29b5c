/** Connects a client to the streams of a container's own program. */
import { constants, openSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { PassThrough, type Writable } from "node:stream";
import type { AttachRequest, SessionEnd, StreamSession } from "../runtime-handler.ts";
import type { ContainerRun } from "./container-run.ts";
import { sendSignal } from "./process-table.ts";
import { readIdentity } from "./run-folder.ts";

/** A client that reads too slowly for this is disconnected; the program is not delayed. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

export function attachTo(run: ContainerRun, request: AttachRequest): StreamSession {
  const session = new AttachSession(run, request);
  return session;
}

class AttachSession implements StreamSession {
  readonly stdin: Writable | undefined;
  readonly stdout: PassThrough | undefined;
  readonly stderr: PassThrough | undefined;
  readonly ended: Promise<SessionEnd>;
  #close: () => void = () => undefined;

  constructor(run: ContainerRun, request: AttachRequest) {
    this.stdin = request.stdin && run.record.stdin ? openInput(run) : undefined;
    this.stdout = request.stdout ? new PassThrough() : undefined;
    this.stderr = request.stderr && !run.record.tty ? new PassThrough() : undefined;
    const closed = new Promise<SessionEnd>((resolve) => {
      this.#close = () => resolve({ type: "failed", message: "the client left" });
    });
    const untap = run.tap((stream, bytes) => {
      const target = stream === "stdout" ? this.stdout : this.stderr;
      target?.write(bytes);
      if ((target?.writableLength ?? 0) > MAX_WAITING_BYTES) this.#close();
    });
    const exited = run.ended.then((): SessionEnd => ({ type: "exited", exitCode: run.exit?.exitCode ?? 0 }));
    this.ended = Promise.race([exited, closed]).then((end) => {
      untap();
      this.stdin?.destroy();
      this.stdout?.end();
      this.stderr?.end();
      return end;
    });
  }

  /** The program's terminal belongs to its shim and keeps its size. */
  resize(): void {}

  close(): void {
    this.#close();
  }
}

/** The end of the input reaches the program only if its container has `stdinOnce`. */
function openInput(run: ContainerRun): Writable {
  const path = join(run.folder, "in");
  // Both directions: the open of one direction would wait for the other end.
  const file = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const socket = new Socket({ fd: file, readable: false, writable: true });
  socket.on("error", () => undefined);
  socket.once("close", () => {
    if (run.record.stdinOnce) closeInput(run);
  });
  return socket;
}

/** Ends the process that keeps the input open. */
function closeInput(run: ContainerRun): void {
  const keeper = readIdentity(join(run.folder, "keeper"));
  if (keeper !== undefined) sendSignal(keeper, "SIGKILL");
}
