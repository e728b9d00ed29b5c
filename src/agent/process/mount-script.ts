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

/** The folder stays as it is; mounts below it, which an overlay hides, are bound again. */
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
    `mount -t overlay -o ${quoteWord(`lowerdir=${lower},upperdir=${upper},workdir=${work}`)} overlay ${target}`,
    `chmod --reference=${quoteWord(lower)} ${target}`,
    ...submounts.map(
      (mount) => `mount --rbind ${quoteWord(lower + mount.slice(folder.length))} ${quoteWord(root + mount)}`,
    ),
  ];
}

function newRoot(root: string): readonly string[] {
  const word = quoteWord(root);
  const entry = `${word}"$entry"`;
  return [
    `mkdir ${word}`,
    `mount -t tmpfs -o mode=755 tmpfs ${word}`,
    `mkdir ${word}/.old`,
    [
      "for entry in /* /.[!.]*; do",
      `  if [ -L "$entry" ]; then cp -P "$entry" ${word}/`,
      `  elif [ -d "$entry" ]; then mkdir ${entry} && mount --rbind "$entry" ${entry}`,
      `  elif [ -f "$entry" ]; then : >${entry} && mount --bind "$entry" ${entry}`,
      "  fi || exit 1",
      "done",
    ].join("\n"),
  ];
}

function enterRoot(root: string): readonly string[] {
  return [`cd ${quoteWord(root)}`, "pivot_root . .old", "cd /", "umount -l /.old", "rmdir /.old"];
}
