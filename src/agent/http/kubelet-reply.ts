/** Responses of the kubelet's HTTP API. */
import type { Readable } from "node:stream";

export interface KubeletReply {
  readonly status: number;
  readonly contentType: string;
  /** A stream is destroyed when the client leaves. */
  readonly body: string | Readable;
}

const TEXT = "text/plain; charset=utf-8";

/** Version 0.0.4 of Prometheus' text format. */
export const METRICS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

export function textReply(status: number, text: string): KubeletReply {
  return { status, contentType: TEXT, body: text };
}

export function jsonReply(value: unknown): KubeletReply {
  return { status: 200, contentType: "application/json", body: JSON.stringify(value) };
}
