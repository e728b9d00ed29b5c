/** What a client says that its body is. */

/** A parameter with what separates it from what is before. Each match goes on where the last one ended. */
const PARAMETER = /\s*;\s*[\w!#$%&'*+\-.^`|~]+\s*=\s*(?:[\w!#$%&'*+\-.^`|~]+|"(?:[^"\\\r\n]|\\[^\r\n])*")/y;

/** In lower case, without its parameters; undefined when these cannot be read, as upstream's reader has it. */
export function findMediaType(header: string): string | undefined {
  const at = header.indexOf(";");
  if (at < 0) return header.trim().toLowerCase();
  let end = at;
  PARAMETER.lastIndex = at;
  while (PARAMETER.test(header)) end = PARAMETER.lastIndex;
  const rest = header.slice(end).trim();
  return rest === "" || rest === ";" ? header.slice(0, at).trim().toLowerCase() : undefined;
}

/** That of a patch is taken as it is written, as upstream does. */
export function patchMediaType(header: string | undefined): string {
  if (header === undefined) return "";
  const at = header.indexOf(";");
  return at > 0 ? header.slice(0, at) : header;
}
