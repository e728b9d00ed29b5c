/** Parses the name of a pod or Service to connect to: `web`, `web:http`, `https:web:443`, `http:web:`. */

export interface ConnectionName {
  readonly isTls: boolean;
  readonly name: string;
  /** Port number or name; empty if absent. */
  readonly port: string;
}

const WITH_SCHEME = /^(https?)?:([^:]+):([^:]*)$/;
const WITHOUT_SCHEME = /^([^:]+)(?::([^:]*))?$/;

/** Undefined for a malformed name. */
export function findConnectionName(text: string): ConnectionName | undefined {
  const whole = WITH_SCHEME.exec(text);
  if (whole !== null) return { isTls: whole[1] === "https", name: whole[2] ?? "", port: whole[3] ?? "" };
  const short = WITHOUT_SCHEME.exec(text);
  return short === null ? undefined : { isTls: false, name: short[1] ?? "", port: short[2] ?? "" };
}
