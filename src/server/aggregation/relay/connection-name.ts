/** How a pod or Service is named to connect to it: `web`, `web:http`, `https:web:443`, `http:web:`. */

export interface ConnectionName {
  readonly isTls: boolean;
  readonly name: string;
  /** A number or a name; empty when none was said. */
  readonly port: string;
}

const WITH_SCHEME = /^(https?)?:([^:]+):([^:]*)$/;
const WITHOUT_SCHEME = /^([^:]+)(?::([^:]*))?$/;

/** Undefined when it is no such name. */
export function findConnectionName(text: string): ConnectionName | undefined {
  const whole = WITH_SCHEME.exec(text);
  if (whole !== null) return { isTls: whole[1] === "https", name: whole[2] ?? "", port: whole[3] ?? "" };
  const short = WITHOUT_SCHEME.exec(text);
  return short === null ? undefined : { isTls: false, name: short[1] ?? "", port: short[2] ?? "" };
}
