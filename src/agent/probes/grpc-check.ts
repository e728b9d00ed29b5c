/**
 * Asks the health service of gRPC. The request and its answer are one number or text each, so that the check needs
 * HTTP/2 and no gRPC library.
 */
import { connect, constants } from "node:http2";
import type { Duplex } from "node:stream";
import { failed, type CheckResult } from "./check.ts";

const PATH = "/grpc.health.v1.Health/Check";
/** Compression flag and length of a message. */
const PREFIX_BYTES = 5;
const SERVING = 1;
/** Names of `HealthCheckResponse.ServingStatus`. */
const STATES = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];
const UNIMPLEMENTED = "12";

export async function checkGrpc(socket: Duplex, service: string, signal: AbortSignal): Promise<CheckResult> {
  const session = connect("http://health", { createConnection: () => socket });
  try {
    return await new Promise<CheckResult>((resolve, reject) => {
      session.once("error", reject);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      const stream = session.request({
        [constants.HTTP2_HEADER_METHOD]: "POST",
        [constants.HTTP2_HEADER_PATH]: PATH,
        "content-type": "application/grpc",
        te: "trailers",
      });
      const chunks: Buffer[] = [];
      let status: string | undefined;
      const note = (headers: Readonly<Record<string, unknown>>): void => {
        if (typeof headers["grpc-status"] === "string") status = headers["grpc-status"];
      };
      stream.once("error", reject);
      stream.on("response", note);
      stream.on("trailers", note);
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.once("end", () => resolve(resultOf(Buffer.concat(chunks), status)));
      stream.end(requestOf(service));
    });
  } finally {
    session.destroy();
    socket.destroy();
  }
}

/** Field 1 is the name of the service; absent for the whole server. */
function requestOf(service: string): Buffer {
  const name = Buffer.from(service);
  const message = name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a, name.length]), name]);
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** Field 1 is the state; absent for zero. */
function resultOf(body: Buffer, status: string | undefined): CheckResult {
  if (status === UNIMPLEMENTED)
    return failed("error: this server does not implement the grpc health protocol (grpc.health.v1.Health)");
  if (status !== undefined && status !== "0") return failed(`error: health rpc failed with status ${status}`);
  const message = body.subarray(PREFIX_BYTES);
  const state = message[0] === 0x08 ? (message[1] ?? 0) : 0;
  if (state === SERVING) return { isSuccess: true, message: "service healthy" };
  return failed(`service unhealthy (responded with "${STATES[state] ?? String(state)}")`);
}
