/** Names of images as container engines read them. */

const DOMAIN = "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])";
const HOST = `${DOMAIN}(?:\\.${DOMAIN})*(?::[0-9]+)?`;
const PART = "[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*";
const IMAGE = new RegExp(
  `^(?:(?<host>${HOST})/)?(?<path>${PART}(?:/${PART})*)(?::(?<tag>[\\w][\\w.-]{0,127}))?(?:@(?<digest>[A-Za-z][A-Za-z0-9]*:[0-9a-fA-F]{32,}))?$`,
);
/** Longer names are refused before they are matched. */
const NAME_MAX = 512;

export interface ImageName {
  readonly host: string;
  readonly path: string;
  readonly tag: string;
}

/** Undefined when the text is no name of an image. */
export function findImageName(text: string): ImageName | undefined {
  const groups = text.length > NAME_MAX ? undefined : IMAGE.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const { host = "", path = "", tag = "" } = groups;
  // Without a dot, a port or `localhost` the first part belongs to the path.
  if (host !== "" && !/[.:]/.test(host) && host !== "localhost") {
    return { host: "docker.io", path: `${host}/${path}`, tag };
  }
  if (host !== "") return { host, path, tag };
  return { host: "docker.io", path: path.includes("/") ? path : `library/${path}`, tag };
}
