/** Recognises URIs as in an HTTP request line, an absolute path or an absolute URI, as Go's net/url parses them. */

const CONTROL = /\p{Cc}/u;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const ESCAPES = /^(?:[^%]|%[0-9a-f]{2})*$/i;
/** Characters of a host name; all characters outside of ASCII are allowed. */
const HOST = /^(?:[a-z0-9\-_.~!$&'()*+,;=:[\]<>"]|\P{ASCII}|%[89a-f][0-9a-f])*$/iu;
const PORT = /^(?::\d*)?$/;
const USER = /^(?:[a-z0-9\-._:~!$&'()*+,;=%@])*$/i;

export function isRequestUri(text: string): boolean {
  if (text === "" || CONTROL.test(text)) return false;
  if (text === "*") return true;
  const [scheme = ""] = SCHEME.exec(text) ?? [];
  const [rest = ""] = text.slice(scheme.length).split("?");
  if (!rest.startsWith("/")) return scheme !== "";
  if (scheme === "" || !rest.startsWith("//")) return ESCAPES.test(rest);
  const slash = rest.indexOf("/", 2);
  const end = slash < 0 ? rest.length : slash;
  return isAuthority(rest.slice(2, end)) && ESCAPES.test(rest.slice(end));
}

function isAuthority(text: string): boolean {
  const at = text.lastIndexOf("@");
  const user = at < 0 ? "" : text.slice(0, at);
  const host = text.slice(at + 1);
  return USER.test(user) && ESCAPES.test(user) && isHost(host);
}

function isHost(host: string): boolean {
  if (host.startsWith("[")) {
    const end = host.lastIndexOf("]");
    return end > 0 && PORT.test(host.slice(end + 1)) && HOST.test(host.slice(0, end).replace(/%25.*/s, ""));
  }
  const colon = host.lastIndexOf(":");
  return (colon < 0 || PORT.test(host.slice(colon))) && HOST.test(host);
}
