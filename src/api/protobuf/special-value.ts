/** Decodes scalars that are small messages in protobuf. Each function reads from the reader's position to `end`. */
import { dateTimeText } from "../../base/date-text.ts";
import { DecodeError } from "../schema/decode-error.ts";
import { normalScalar } from "../schema/normal-scalar.ts";
import type { WireReader } from "./wire-reader.ts";
import { LENGTH, VARINT } from "./wire-type.ts";

/** Years 1 to 9999, which four digits can express. */
const SECONDS_MIN = -62_135_596_800;
const SECONDS_MAX = 253_402_300_799;

/** Cache of the last date: the times of one object are often equal. */
let last = { seconds: 0, text: "1970-01-01T00:00:00" };

/** `null` for the zero time. Fractions of a `Time` are dropped, because its JSON form has none. */
export function timeOf(reader: WireReader, type: "time" | "microTime", end: number): string | null {
  if (reader.at === end) return null;
  let seconds: number | bigint = 0;
  let nanos: number | bigint = 0;
  while (reader.at < end) {
    const tag = reader.small(end);
    if (tag === 8 + VARINT) seconds = reader.integer(end);
    else if (tag === 16 + VARINT) nanos = reader.integer(end);
    else reader.skip(tag & 7, end);
  }
  if (seconds < SECONDS_MIN || seconds > SECONDS_MAX) throw new DecodeError("proto: time is out of range");
  const date = dateOf(Number(seconds));
  const micros = Math.floor(Math.min(Math.max(Number(nanos), 0), 999_999_999) / 1000);
  if (seconds === SECONDS_MIN && (type === "time" || micros === 0)) return null;
  return type === "time" ? `${date}Z` : `${date}.${String(micros).padStart(6, "0")}Z`;
}

export function quantityOf(reader: WireReader, end: number): unknown {
  let text = "";
  while (reader.at < end) {
    const tag = reader.small(end);
    if (tag === 8 + LENGTH) text = reader.text(end);
    else reader.skip(tag & 7, end);
  }
  return text === "" ? "0" : normalScalar("quantity", text);
}

/** Type 1 selects the text, any other type the number. */
export function intOrStringOf(reader: WireReader, end: number): number | string {
  let type: number | bigint = 0;
  let int: number | bigint = 0;
  let text = "";
  while (reader.at < end) {
    const tag = reader.small(end);
    if (tag === 8 + VARINT) type = reader.integer(end);
    else if (tag === 16 + VARINT) int = reader.integer(end);
    else if (tag === 24 + LENGTH) text = reader.text(end);
    else reader.skip(tag & 7, end);
  }
  if (type === 1) return text;
  return typeof int === "number" ? int | 0 : Number(BigInt.asIntN(32, int));
}

function dateOf(seconds: number): string {
  if (last.seconds !== seconds) {
    last = { seconds, text: dateTimeText(seconds * 1000) };
  }
  return last.text;
}
