/** Loads etcd with puts over one HTTP/2 connection from prepared bytes: the cheapest client possible in Node.js. */
import { connect } from "node:http2";
import type { ClientHttp2Session } from "node:http2";
import { performance } from "node:perf_hooks";
import { perSecond } from "./row.ts";

const WARM_UP_MS = 1000;
const MEASURE_MS = 4000;

export interface EtcdPutArgument {
  readonly endpoint: string;
  readonly writers: number;
  readonly bytes: number;
}

/** A PutRequest (field 1 key, field 2 value) behind the five-byte prefix of a gRPC message. */
function putFrame(key: string, bytes: number): Buffer {
  const name = Buffer.from(key);
  const message = Buffer.concat([field(1, name), field(2, Buffer.alloc(bytes, 97))]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function field(number: number, content: Buffer): Buffer {
  const length: number[] = [];
  for (let rest = content.length; ; rest >>>= 7) {
    length.push(rest > 127 ? (rest & 127) | 128 : rest);
    if (rest <= 127) break;
  }
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), content]);
}

async function put(session: ClientHttp2Session, frame: Buffer): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const stream = session.request({
      ":method": "POST",
      ":path": "/etcdserverpb.KV/Put",
      "content-type": "application/grpc",
      te: "trailers",
    });
    let status: unknown;
    stream.on("trailers", (trailers: Readonly<Record<string, unknown>>) => {
      status = trailers["grpc-status"];
    });
    stream.on("error", reject);
    stream.on("close", () =>
      status === "0" ? resolve() : reject(new Error(`etcd answered ${String(status)}`)),
    );
    stream.resume();
    stream.end(frame);
  });
}

export async function etcdPutChild({ endpoint, writers, bytes }: EtcdPutArgument): Promise<unknown> {
  const session = connect(endpoint);
  const frames = Array.from({ length: 10_000 }, (_, n) =>
    putFrame(`/registry/pods/default/pod-${String(n)}`, bytes),
  );
  let answered = 0;
  const begin = performance.now();
  let measured = { at: begin, answered: 0, cpu: process.cpuUsage() };
  const end = begin + WARM_UP_MS + MEASURE_MS;
  let isWarm = false;
  await Promise.all(
    Array.from({ length: writers }, async () => {
      while (performance.now() < end) {
        await put(session, frames[answered % frames.length] ?? Buffer.alloc(0));
        answered += 1;
        if (isWarm || performance.now() < begin + WARM_UP_MS) continue;
        isWarm = true;
        measured = { at: performance.now(), answered, cpu: process.cpuUsage() };
      }
    }),
  );
  const ms = performance.now() - measured.at;
  const cpu = process.cpuUsage(measured.cpu);
  session.close();
  return {
    rate: perSecond(answered - measured.answered, ms),
    clientShare: (cpu.user + cpu.system) / 1000 / ms,
  };
}
