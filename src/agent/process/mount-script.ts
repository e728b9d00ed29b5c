/** The commands that carry out a mount plan in a new mount namespace. */
import { posix } from "node:path";
import type { HostFiles, MountPlan, MountStep, PathKind } from "./mount-plan.ts";
import { quoteWord, quoteWords } from "./shell-words.ts";

export interface MountScriptOptions {
  /** Folder for what overlays add, without links; it may be hidden afterwards. */
  readonly stage: string;
  /** Whether the container sees everything but its own mounts and `/dev` as read-only. */
  readonly hasReadOnlyRoot: boolean;
}

/**
 * `enter` refuses a folder that a link leads to: the shell is in the folder that it checks. `bind` compares what it
 * mounted with what was planned: programs of the pod may exchange files in volumes at any time.
 */
const FUNCTIONS = `enter() {
  cd -P "$1" && [ "$(pwd -P)" = "$1" ] || { echo "$1: a link leads elsewhere" >&2; return 1; }
}
make_folder() {
  enter "$1" || return 1
  base=\${1%/}
  shift
  for name; do
    mkdir "./$name" 2>/dev/null
    base=$base/$name
    enter "$base" || return 1
  done
}
bind() {
  mount "$1" "$2" "$3" || return 1
  if [ "$1" = --rbind ]; then enter "$3" && found=$(stat -c %d:%i .)
  else folder=\${3%/*} && enter "\${folder:-/}" && found=$(stat -c %d:%i "./\${3##*/}")
  fi
  [ "$found" = "$4" ] || { echo "$2 has changed meanwhile" >&2; return 1; }
}`;

/** Mode of the folders that are made here. */
const MODE = 0o755;

/** Each command ends the script when it fails. */
export function mountScript(
  plan: MountPlan,
  { stage, hasReadOnlyRoot }: MountScriptOptions,
  files: Pick<HostFiles, "kindOf">,
): string {
  const { needsRoot, steps, hidden } = plan;
  const root = needsRoot ? `${stage}/root` : "";
  const commands = [
    ...makeStage(stage, plan),
    ...(needsRoot ? newRoot(root) : []),
    ...steps.flatMap((step, index) => commandsOf(step, { root, place: placeOf(stage, index), files })),
    ...hidden.map((folder) => `mount -t tmpfs -o ro,size=4k,mode=000 tmpfs ${quoteWord(root + folder)}`),
    ...(needsRoot ? enterRoot(root) : []),
    ...(hasReadOnlyRoot ? [readOnlyRoot(steps)] : []),
    "mount -t proc proc /proc",
  ];
  return `${FUNCTIONS}\n${commands.join(" &&\n")}`;
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
  if (step.type === "make") return make(step, context.root);
  const path = quoteWord(context.root + step.path);
  const { hostPath, readOnly, propagation } = step.mount;
  const option = context.files.kindOf(hostPath) === "folder" ? "--rbind" : "--bind";
  const words = `${option} ${quoteWord(hostPath)} ${path}`;
  return [
    step.identity === undefined ? `mount ${words}` : `bind ${words} ${step.identity}`,
    ...(propagation === "None"
      ? []
      : [`mount --make-${propagation === "Bidirectional" ? "rshared" : "rslave"} ${path}`]),
    ...(readOnly ? [`mount -o remount,bind,ro ${path}`] : []),
  ];
}

function make({ base, path, kind }: MountStep & { readonly type: "make" }, root: string): readonly string[] {
  if (base !== undefined) return makeInVolume({ base, path, kind }, root);
  const word = quoteWord(root + path);
  if (kind === "folder") return [`mkdir -p ${word}`];
  const parent = quoteWord(root + posix.dirname(path));
  return [`{ [ -d ${parent} ] || mkdir -p ${parent}; }`, `: >>${word}`];
}

function makeInVolume(
  { base, path, kind }: { readonly base: string; readonly path: string; readonly kind: PathKind },
  root: string,
): readonly string[] {
  const names = posix.relative(base, path).split("/");
  const folders = kind === "folder" ? names : names.slice(0, -1);
  return [
    `make_folder ${quoteWords([root + base, ...folders])}`,
    // Without "clobber", the shell does not follow a link to a missing file.
    ...(kind === "folder" ? [] : [`( set -C && : >${quoteWord(`./${names.at(-1) ?? ""}`)} )`]),
  ];
}

/** Mounts below `/` become read-only, but for those of the container itself and the kernel's own. */
function readOnlyRoot(steps: readonly MountStep[]): string {
  const own = steps.flatMap((step) => (step.type === "bind" ? [step.path] : []));
  const kept = [...own, "/dev", "/proc", "/sys"].map(quoteWord);
  return `while read -r _ _ _ _ point options _; do
  point=$(printf '%b' "$(printf %s "$point" | sed 's/\\\\\\([0-7][0-7][0-7]\\)/\\\\0\\1/g')")
  # A mount below a hidden folder is out of reach.
  [ -e "$point" ] || continue
  case $point in
  ${kept.map((path) => `${path}|${path}/*`).join("|")}) continue ;;
  esac
  flags=$(printf %s "$options" | tr , '\\n' | grep -E '^(no(suid|dev|exec|atime|diratime)|relatime)$' | tr '\\n' ,)
  mount -o "remount,bind,\${flags}ro" "$point" || exit 1
done </proc/self/mountinfo`;
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
