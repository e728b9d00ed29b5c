/** Images of process pods: an image name stands for a program of this machine. */
import { splitWords } from "./shell-words.ts";

/** Program that an image name stands for. */
export interface ProcessImage {
  /** Without registry, tag and digest unless the user gave them. */
  readonly name: string;
  readonly entrypoint: string;
  /** Arguments of a container without `args`. */
  readonly args: readonly string[];
}

/** Parses `nginx=/usr/sbin/nginx -g 'daemon off;'`. Throws with the remedy. */
export function parseProcessImage(text: string): ProcessImage {
  const [, name = "", line = ""] = /^([^=\s]+)=(.*)$/s.exec(text) ?? [];
  const [entrypoint, ...args] = splitWords(line) ?? [];
  if (name === "" || entrypoint === undefined)
    throw new Error(
      `expected IMAGE=COMMAND, for example nginx="/usr/sbin/nginx -g 'daemon off;'", found ${JSON.stringify(text)}`,
    );
  return { name, entrypoint, args };
}

/** The mapping for an image: its full name comes before its name without tag, and that before its last part. */
export function findProcessImage(images: readonly ProcessImage[], image: string): ProcessImage | undefined {
  const untagged = image.replace(/@[^/]*$/, "").replace(/:[^/]*$/, "");
  const short = untagged.slice(untagged.lastIndexOf("/") + 1);
  for (const name of [image, untagged, short]) {
    const found = images.find((candidate) => candidate.name === name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Program and arguments of a container; undefined if nothing says which program to run. */
export function resolveCommand(
  image: ProcessImage | undefined,
  { command, args }: { readonly command: readonly string[]; readonly args: readonly string[] },
): readonly string[] | undefined {
  if (command.length > 0) return [...command, ...args];
  if (image === undefined) return undefined;
  return [image.entrypoint, ...(args.length > 0 ? args : image.args)];
}

/** Remedy for an image that stands for no program. */
export function missingImageText(image: string): string {
  return (
    `image ${JSON.stringify(image)} stands for no program: pods with the runtime class "process" run programs of this ` +
    `machine and pull nothing; set "command" in the container, or start with --process-image '${image}=COMMAND'`
  );
}
