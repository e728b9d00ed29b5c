/**
 * Authenticates tokens from a file with a user each: `TOKEN,USER,UID,"GROUP,GROUP"`. They are valid until the server
 * stops.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { User } from "../../request/user.ts";
import type { TokenAuthenticator } from "./authenticator.ts";

export interface StaticToken {
  readonly token: string;
  readonly user: User;
}

interface Listed {
  readonly digest: Buffer;
  readonly user: User;
}

/** Tokens are looked up by a digest with a secret key, so response times reveal nothing about them. */
export function fileTokens(list: readonly StaticToken[], key: Uint8Array): TokenAuthenticator {
  const digestOf = (token: string): Buffer => createHmac("sha256", key).update(token).digest();
  const listed = new Map<string, Listed>();
  for (const { token, user } of list) {
    const digest = digestOf(token);
    listed.set(digest.toString("base64"), { digest, user });
  }
  return {
    find(token, audiences) {
      const digest = digestOf(token);
      const found = listed.get(digest.toString("base64"));
      if (found === undefined || !timingSafeEqual(found.digest, digest)) return undefined;
      return { type: "bearer", user: found.user, audiences };
    },
  };
}

/** Throws an error that names the line, and reveals none of its content. */
export function parseTokenFile(text: string, path: string): readonly StaticToken[] {
  const tokens: StaticToken[] = [];
  const seen = new Set<string>();
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const fields = splitLine(line);
    const [token = "", name = "", uid = "", groups = ""] = fields ?? [];
    const problem = lineProblem({ token, name, isWhole: fields !== undefined && fields.length >= 3 });
    if (problem !== undefined) throw new Error(`${path}, line ${String(at + 1)}: ${problem}`);
    if (seen.has(token)) throw new Error(`${path}, line ${String(at + 1)}: duplicate token`);
    seen.add(token);
    tokens.push({ token, user: { name, uid, groups: groupsOf(groups), extra: {} } });
  }
  return tokens;
}

function lineProblem({
  token,
  name,
  isWhole,
}: {
  readonly token: string;
  readonly name: string;
  readonly isWhole: boolean;
}): string | undefined {
  if (!isWhole) return 'must be TOKEN,USER,UID or TOKEN,USER,UID,"GROUP,GROUP"';
  if (token === "") return "the token is empty";
  return name === "" ? "the user is empty" : undefined;
}

function groupsOf(text: string): readonly string[] {
  const groups = text.split(",").filter((group) => group !== "");
  return [...groups, "system:authenticated"];
}

/** One line of CSV (RFC 4180); undefined for a misplaced quote. */
function splitLine(line: string): readonly string[] | undefined {
  const fields: string[] = [];
  const field = /\s*(?:"(?<quoted>(?:[^"]|"")*)"\s*|(?<plain>[^",]*))(?<end>,|$)/y;
  for (;;) {
    const match = field.exec(line);
    if (match?.groups === undefined) return undefined;
    const { quoted, plain = "", end } = match.groups;
    fields.push(quoted?.replaceAll('""', '"') ?? plain.trim());
    if (end === "") return fields;
  }
}
