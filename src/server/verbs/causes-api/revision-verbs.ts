/** Answers `GET …/revisions/TIME`: the newest revision at a time, for reads of the past. */
import { CAUSES_VERSION, type Revision } from "../../../api/causes/change.ts";
import { badRequest, expired } from "../../../api/errors/api-error.ts";
import { microTimeText } from "../../../api/values/time.ts";
import type { Resource } from "../../objects/registry.ts";
import type { Answer } from "../../request/answer.ts";
import type { Call } from "../../request/call.ts";
import type { CausesParts } from "./causes-verbs.ts";

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

/** After the clock was set back, several revisions have the time; the newest counts. */
export function showRevision({ info }: Call<Resource>, { journal }: CausesParts): Answer {
  const at = TIME.test(info.name) ? Date.parse(info.name) : NaN;
  if (Number.isNaN(at))
    throw badRequest(`the name of a revision is a time such as 2026-01-31T12:00:00Z, found "${info.name}"`);
  const entry = journal.newestAt(at);
  if (entry === undefined)
    throw expired(`this server remembers no write before ${info.name}: name a revision instead of a time`);
  const object: Revision = {
    apiVersion: CAUSES_VERSION,
    kind: "Revision",
    metadata: { name: info.name },
    revision: String(entry.revision),
    time: microTimeText(entry.at),
  };
  return { type: "object", code: 200, object };
}
