/** Responses that the server writes as text, because Node cannot or must not write them. */
import { STATUS_CODES, validateHeaderName, validateHeaderValue } from "node:http";

/** The format of Go's response. */
const BAD_REQUEST =
  "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request: ";
export const HOST_REFUSALS = {
  missing: `${BAD_REQUEST}missing required Host header`,
  malformed: `${BAD_REQUEST}malformed Host header`,
} as const;
export const EXPECTATION_REFUSAL =
  "HTTP/1.1 417 Expectation Failed\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
/** Statuses by error code of the parser or of Node. Any other code means 400. */
const FAULT_STATUSES: ReadonlyMap<string | undefined, number> = new Map([
  ["ERR_HTTP_REQUEST_TIMEOUT", 408],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", 413],
  ["HPE_HEADER_OVERFLOW", 431],
]);

export function faultAnswer(code: string | undefined): string {
  const status = FAULT_STATUSES.get(code) ?? 400;
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nConnection: close\r\n\r\n`;
}

/** Validates the headers here: Node checks only those of responses that it writes itself. */
export function headText(status: number, headers: ReadonlyMap<string, string>): string {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`];
  for (const [name, value] of headers) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    lines.push(`${name}: ${value}`);
  }
  return `${lines.join("\r\n")}\r\n\r\n`;
}
