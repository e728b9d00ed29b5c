/** Processes as `ps` lists them where there is no /proc, for example on macOS. */

export interface PsRow {
  readonly pid: number;
  readonly start: string;
  readonly parent: number;
  readonly group: number;
  readonly arguments: string;
}

/** Without headings. The times are those of the locale C. */
export const PS_COLUMNS = "pid=,ppid=,pgid=,stat=,lstart=,args=";

const ROW = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4})\s+(.*)$/gm;

/** Processes that have ended, and lines of another form, are left out. */
export function parsePsRows(text: string): readonly PsRow[] {
  return [...text.matchAll(ROW)]
    .filter(([, , , , state = ""]) => !state.startsWith("Z"))
    .map(([, pid, parent, group, , start = "", words = ""]) => ({
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      // As the shells write it, which know words only.
      start: start.replaceAll(/ +/g, " "),
      arguments: words.trim(),
    }));
}
