// Executes the instructions of a Dockerfile in folders, one for each stage: Docker itself may be missing.
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/**
 * @typedef {object} Surroundings
 * @property {() => string} makeFolder makes an empty folder
 * @property {(cwd: string, command: string) => void} run runs a command of the shell
 *
 * @typedef {object} Image
 * @property {string} root folder of the current stage
 * @property {string} folder working folder within it
 * @property {readonly string[]} command
 * @property {Map<string, string>} stages
 * @property {string} project
 * @property {Surroundings} around
 */

/** @type {Readonly<Record<string, (image: Image, words: readonly string[]) => void>>} */
const INSTRUCTIONS = {
  FROM(image, [, , stage = ""]) {
    image.root = image.around.makeFolder();
    image.stages.set(stage, image.root);
  },
  WORKDIR(image, [path = ""]) {
    image.folder = join(image.root, path);
    mkdirSync(image.folder, { recursive: true });
  },
  COPY(image, words) {
    const [, stage] = /^--from=(.*)$/.exec(words[0] ?? "") ?? [];
    const from = stage === undefined ? image.project : image.stages.get(stage);
    if (from === undefined)
      throw new Error(`the Dockerfile copies from an unknown stage: ${words.join(" ")}`);
    const sources = words.slice(stage === undefined ? 0 : 1, -1);
    const target = join(image.folder, words.at(-1) ?? "");
    for (const source of sources)
      cpSync(join(from, source), target.endsWith("/") ? join(target, basename(source)) : target, {
        recursive: true,
        verbatimSymlinks: true,
      });
  },
  RUN(image, words) {
    image.around.run(image.folder, words.join(" "));
  },
  USER() {},
  CMD(image, words) {
    image.command = JSON.parse(words.join(" "));
  },
};

/**
 * @param {string} project folder with the Dockerfile
 * @param {Surroundings} around
 * @returns {Pick<Image, "folder" | "command">} what a container would run, and where
 */
export function buildImage(project, around) {
  /** @type {Image} */
  const image = { root: "", folder: "", command: [], stages: new Map(), project, around };
  for (const line of readFileSync(join(project, "Dockerfile"), "utf8").split("\n")) {
    if (line === "") continue;
    const [name = "", ...words] = line.split(" ");
    const instruction = INSTRUCTIONS[name];
    if (instruction === undefined) throw new Error(`unknown instruction of the Dockerfile: ${line}`);
    instruction(image, words);
  }
  return image;
}
