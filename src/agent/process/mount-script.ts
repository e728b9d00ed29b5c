/** The commands that carry out a mount plan in a new mount namespace. */
import { posix } from "node:path";
import type { HostFiles, MountPlan, MountStep } from "./mount-plan.ts";
import { quoteWord } from "./shell-words.ts";

export interface MountScriptOptions {
  /** Folder for what overlays add; it may be hidden afterwards. */
  readonly stage: string;
  /** Folders of the machine that the container must not see. */
  readonly hidden: readonly string[];
}

/** Each command ends the script when it fails. */
export function mountScript(
  { needsRoot, steps }: MountPlan,
  { stage, hidden }: MountScriptOptions,
  files: Pick<HostFiles, "kindOf">,
): string {
  const root = needsRoot ? `${stage}/root` : "";
  const stageWord = quoteWord(stage);
  const needsStage = needsRoot || steps.some(({ type }) => type === "overlay");
  return [
    ...(needsStage ? [`mkdir -p ${stageWord}`, `mount -t tmpfs -o mode=755 tmpfs ${stageWord}`] : []),
    ...(needsRoot ? newRoot(root) : []),
    ...steps.flatMap((step, index) => commandsOf(step, { root, stage, index, files })),
    ...hidden.map((folder) => `mount -t tmpfs -o ro,size=4k,mode=000 tmpfs ${quoteWord(root + folder)}`),
    ...(needsRoot ? enterRoot(root) : []),
    "mount -t proc proc /proc",
  ].join(" &&\n");
}

interface StepContext {
  readonly root: string;
  readonly stage: string;
  readonly index: number;
  readonly files: Pick<HostFiles, "kindOf">;
}

function commandsOf(step: MountStep, context: StepContext): readonly string[] {
  if (step.type === "overlay") return overlay(step, context);
  const path = quoteWord(context.root + step.path);
  if (step.type === "make") {
    if (step.kind === "folder") return [`mkdir -p ${path}`];
    return [`mkdir -p ${quoteWord(context.root + posix.dirname(step.path))}`, `: >>${path}`];
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
  { folder, submounts }: MountStep & { readonly type: "overlay" },
  { root, stage, index }: StepContext,
): readonly string[] {
  const place = `${stage}/${String(index)}`;
  const [lower, upper, work] = ["lower", "upper", "work"].map((name) => `${place}/${name}`) as [
    string,
    string,
    string,
  ];
  const target = quoteWord(root + folder);
  return [
    `mkdir -p ${[lower, upper, work].map(quoteWord).join(" ")}`,
    `mount --rbind ${target} ${quoteWord(lower)}`,
    [
      `if mount -t overlay -o ${quoteWord(`lowerdir=${lower},upperdir=${upper},workdir=${work}`)} overlay ${target}; then`,
      submounts
        .map(
          (mount) =>
            `mount --rbind ${quoteWord(lower + mount.slice(folder.length))} ${quoteWord(root + mount)}`,
        )
        .join(" &&\n") || ":",
      "else",
      copyOf(lower, root + folder).join(" &&\n"),
      "fi",
    ].join("\n"),
    `chmod --reference=${quoteWord(lower)} ${target}`,
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
