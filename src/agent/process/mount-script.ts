/** The commands that carry out a mount plan in a new mount namespace. */
import { posix } from "node:path";
import type { HostFiles, MountPlan, MountStep } from "./mount-plan.ts";
import { quoteWord, quoteWords } from "./shell-words.ts";

export interface MountScriptOptions {
  /** Folder for what overlays add; it may be hidden afterwards. */
  readonly stage: string;
  /** Folders of the machine that the container must not see. */
  readonly hidden: readonly string[];
}

/** Mode of the folders that are made here. */
const MODE = 0o755;

/** Each command ends the script when it fails. */
export function mountScript(
  { needsRoot, steps }: MountPlan,
  { stage, hidden }: MountScriptOptions,
  files: Pick<HostFiles, "kindOf">,
): string {
  const root = needsRoot ? `${stage}/root` : "";
  return [
    ...makeStage(stage, { needsRoot, steps }),
    ...(needsRoot ? newRoot(root) : []),
    ...steps.flatMap((step, index) => commandsOf(step, { root, place: placeOf(stage, index), files })),
    ...hidden.map((folder) => `mount -t tmpfs -o ro,size=4k,mode=000 tmpfs ${quoteWord(root + folder)}`),
    ...(needsRoot ? enterRoot(root) : []),
    "mount -t proc proc /proc",
  ].join(" &&\n");
}

/** Folders of an overlay below the stage. */
interface OverlayPlace {
  /** The folder with its mounts, which the overlay hides. */
  readonly lower: string;
  readonly upper: string;
  readonly work: string;
}

interface StepContext {
  readonly root: string;
  readonly place: OverlayPlace;
  readonly files: Pick<HostFiles, "kindOf">;
}

function placeOf(stage: string, index: number): OverlayPlace {
  const place = `${stage}/${String(index)}`;
  return { lower: `${place}/lower`, upper: `${place}/upper`, work: `${place}/work` };
}

/** One command makes the folders of all overlays: each command costs a millisecond of every start. */
function makeStage(stage: string, { needsRoot, steps }: MountPlan): readonly string[] {
  const folders = steps.flatMap((step, index) => {
    const { lower, upper, work } = placeOf(stage, index);
    return step.type === "overlay" ? [lower, upper, work] : [];
  });
  if (!needsRoot && folders.length === 0) return [];
  const word = quoteWord(stage);
  return [
    `mkdir -p ${word}`,
    `mount -t tmpfs -o mode=755 tmpfs ${word}`,
    ...(folders.length === 0 ? [] : [`mkdir -p -m ${MODE.toString(8)} ${quoteWords(folders)}`]),
  ];
}

function commandsOf(step: MountStep, context: StepContext): readonly string[] {
  if (step.type === "overlay") return overlay(step, context);
  const path = quoteWord(context.root + step.path);
  if (step.type === "make") {
    if (step.kind === "folder") return [`mkdir -p ${path}`];
    const parent = quoteWord(context.root + posix.dirname(step.path));
    return [`{ [ -d ${parent} ] || mkdir -p ${parent}; }`, `: >>${path}`];
  }
  const { hostPath, readOnly, propagation } = step.mount;
  const bind = context.files.kindOf(hostPath) === "folder" ? "--rbind" : "--bind";
  return [
    `mount ${bind} ${quoteWord(hostPath)} ${path}`,
    ...(propagation === "None"
      ? []
      : [`mount --make-${propagation === "Bidirectional" ? "rshared" : "rslave"} ${path}`]),
    ...(readOnly ? [`mount -o remount,bind,ro ${path}`] : []),
  ];
}

/**
 * The folder stays as it is; mounts below it, which an overlay hides, are bound again. Where an overlay is not permitted,
 * as for a normal user above mounts, its entries are bound one by one.
 */
function overlay(
  { folder, mode, submounts }: MountStep & { readonly type: "overlay" },
  { root, place: { lower, upper, work } }: StepContext,
): readonly string[] {
  const target = quoteWord(root + folder);
  const keep = `mount --rbind ${target} ${quoteWord(lower)}`;
  const hasSubmounts = submounts.length > 0;
  const source = hasSubmounts ? lower : root + folder;
  return [
    ...(hasSubmounts ? [keep] : []),
    [
      `if mount -t overlay -o ${quoteWord(`lowerdir=${source},upperdir=${upper},workdir=${work}`)} overlay ${target}; then`,
      submounts
        .map(
          (mount) =>
            `mount --rbind ${quoteWord(lower + mount.slice(folder.length))} ${quoteWord(root + mount)}`,
        )
        .join(" &&\n") || ":",
      "else",
      [...(hasSubmounts ? [] : [keep]), ...copyOf(lower, root + folder)].join(" &&\n"),
      "fi",
    ].join("\n"),
    ...(mode === MODE ? [] : [`chmod ${mode.toString(8)} ${target}`]),
  ];
}

function newRoot(root: string): readonly string[] {
  const word = quoteWord(root);
  return [`mkdir ${word}`, ...copyOf("", root), `mkdir ${word}/.old`];
}

/** A new folder over the existing one, into which all entries of the source are bound. */
function copyOf(source: string, folder: string): readonly string[] {
  const [from, to] = [quoteWord(`${source}/`), quoteWord(`${folder}/`)];
  const place = `${to}"\${entry##*/}"`;
  return [
    `mount -t tmpfs -o mode=755 tmpfs ${quoteWord(folder)}`,
    [
      `for entry in ${from}* ${from}.[!.]*; do`,
      `  if [ -L "$entry" ]; then cp -P "$entry" ${to}`,
      `  elif [ -d "$entry" ]; then mkdir ${place} && mount --rbind "$entry" ${place}`,
      `  elif [ -e "$entry" ]; then : >${place} && mount --bind "$entry" ${place}`,
      "  fi || exit 1",
      "done",
    ].join("\n"),
  ];
}

function enterRoot(root: string): readonly string[] {
  return [`cd ${quoteWord(root)}`, "pivot_root . .old", "cd /", "umount -l /.old", "rmdir /.old"];
}
