/** Protocols of exec and attach. They differ in how a result is written, in terminal sizes, and in closing stdin. */

export interface CommandProtocol {
  readonly name: string;
  /** The result is a Status object in JSON. Otherwise it is the text of an error, or nothing. */
  readonly hasStatus: boolean;
  /** The client may send terminal sizes. */
  readonly hasResize: boolean;
  /** Channels of a WebSocket carry base64 text. */
  readonly isBase64: boolean;
  /** The client may close stdin of a WebSocket. */
  readonly hasClose: boolean;
}

const PLAIN = { hasStatus: false, hasResize: false, isBase64: false, hasClose: false };
const WITH_STATUS = { ...PLAIN, hasStatus: true, hasResize: true };

/** Best first. */
export const SPDY_PROTOCOLS: readonly CommandProtocol[] = [
  { ...WITH_STATUS, name: "v5.channel.k8s.io" },
  { ...WITH_STATUS, name: "v4.channel.k8s.io" },
  { ...PLAIN, name: "v3.channel.k8s.io", hasResize: true },
  { ...PLAIN, name: "v2.channel.k8s.io" },
  { ...PLAIN, name: "channel.k8s.io" },
];

/** Best first. The empty name stands for a client without subprotocol. */
export const WEBSOCKET_PROTOCOLS: readonly CommandProtocol[] = [
  { ...WITH_STATUS, name: "v5.channel.k8s.io", hasClose: true },
  { ...WITH_STATUS, name: "v4.channel.k8s.io" },
  { ...WITH_STATUS, name: "v4.base64.channel.k8s.io", isBase64: true },
  { ...PLAIN, name: "channel.k8s.io", hasResize: true },
  { ...PLAIN, name: "base64.channel.k8s.io", hasResize: true, isBase64: true },
  { ...PLAIN, name: "", hasResize: true },
];

/** Streams that a command is connected to. */
export interface CommandOptions {
  readonly stdin: boolean;
  readonly stdout: boolean;
  /** Never with a terminal, which has one output. */
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** Streams in the order of their channels. */
export const STREAM_NAMES = ["stdin", "stdout", "stderr", "error", "resize"] as const;
export type StreamName = (typeof STREAM_NAMES)[number];

/** Streams that a client opens, in the order in which upstream's clients do. */
export function streamsOf(
  { stdin, stdout, stderr, tty }: CommandOptions,
  { hasResize }: CommandProtocol,
): readonly StreamName[] {
  const names: StreamName[] = ["error"];
  if (stdin) names.push("stdin");
  if (stdout) names.push("stdout");
  if (stderr && !tty) names.push("stderr");
  if (tty && hasResize) names.push("resize");
  return names;
}
