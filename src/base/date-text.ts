/**
 * Dates as text without `toISOString`: V8 looks up the machine's time zone there, although the text shows none. That
 * loads a megabyte of locale data.
 */

/**
 * Year to second in UTC, `2026-01-02T03:04:05`, rounded down. A year without four digits looks as in `toISOString`.
 */
export function dateTimeText(ms: number): string {
  const date = new Date(ms);
  const year = date.getUTCFullYear();
  // An invalid date takes this path too, and throws.
  if (!(year >= 0 && year <= 9999)) return date.toISOString().slice(0, 19);
  const day = `${padded(year, 4)}-${padded(date.getUTCMonth() + 1, 2)}-${padded(date.getUTCDate(), 2)}`;
  const hour = padded(date.getUTCHours(), 2);
  return `${day}T${hour}:${padded(date.getUTCMinutes(), 2)}:${padded(date.getUTCSeconds(), 2)}`;
}

/** The same with nine digits of a second, `2026-01-02T03:04:05.006000000Z`, as in log files of containers: such texts sort by time. */
export function dateTimeNanosText(ms: number): string {
  return `${dateTimeText(ms)}.${padded(new Date(ms).getUTCMilliseconds(), 3)}000000Z`;
}

function padded(value: number, digits: number): string {
  return String(value).padStart(digits, "0");
}
